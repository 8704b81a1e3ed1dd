import type { Chart } from './benchmark.ts';
import { short } from './numbers.ts';
import { card, element, label, otherColour, oursColour } from './svg.ts';

export type Bar = { label: string; value: number; ours: boolean };

const width = 760;
const top = 44;
const step = 42;
const left = 16;
const longest = width - 100;

/** Draws horizontal bars, each below its label. */
export function barChart(name: string, title: string, bars: Bar[]): Chart {
  const most = Math.max(...bars.map(({ value }) => value));
  const parts = bars.flatMap(({ label: text, value, ours }, index) => {
    const y = top + index * step;
    const length = Math.max(1, (value / most) * longest);
    const fill = ours ? oursColour : otherColour;
    return [
      label(left, y + 10, text),
      element('rect', { x: left, y: y + 15, width: length, height: 13, rx: 2, fill }),
      label(left + length + 6, y + 26, short(value), { 'font-weight': 600 }),
    ];
  });
  return { name, alt: title, svg: card(width, top + bars.length * step + 8, title, parts) };
}
