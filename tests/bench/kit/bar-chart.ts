import type { Chart } from './benchmark.ts';
import { type Figures, measuredNames, rates } from './measured-load.ts';
import { median, short } from './numbers.ts';
import { card, element, label, otherColour, oursColour } from './svg.ts';

const width = 760;
const top = 44;
const step = 42;
const left = 16;
const longest = width - 100;

/** Draws the rates of all measured subjects but the ceiling, as horizontal bars below labels. */
export function rateChart<Name extends string>(
  name: string,
  title: string,
  figures: Figures<Name>,
  names: Record<Name, string>,
): Chart {
  const shown = measuredNames(figures, names).filter((subject) => subject !== 'ceiling');
  const values = shown.map((subject) => median(rates(figures[subject])));
  const parts = shown.flatMap((subject, index) => {
    const y = top + index * step;
    const value = values[index] ?? 0;
    const length = Math.max(1, (value / Math.max(...values)) * longest);
    const fill = ['service', 'keyed'].includes(subject) ? oursColour : otherColour;
    return [
      label(left, y + 10, names[subject]),
      element('rect', { x: left, y: y + 15, width: length, height: 13, rx: 2, fill }),
      label(left + length + 6, y + 26, short(value), { 'font-weight': 600 }),
    ];
  });
  return { name, alt: title, svg: card(width, top + shown.length * step + 8, title, parts) };
}
