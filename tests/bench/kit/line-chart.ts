import type { Chart } from './benchmark.ts';
import { short } from './numbers.ts';
import { card, element, faint, label, palette } from './svg.ts';

export type Line = { name: string; points: { x: number; y: number }[] };

/** A named range of the x axis. */
export type Band = { from: number; to: number; label: string };

type LineChart = {
  /** The name of the file. */
  name: string;
  title: string;
  lines: Line[];
  /** The labels of the x axis. */
  marks: { x: number; label: string }[];
  yLabel: string;
  /** Both axes are linear by default. */
  logX?: boolean;
  logY?: boolean;
  bands?: Band[];
};

const width = 760;
const height = 380;
const plot = { left: 60, right: width - 20, top: 70, bottom: height - 60 };

export function lineChart(chart: LineChart): Chart {
  const { name, title, lines, marks, bands = [], yLabel } = chart;
  const { toX, toY, ticks } = scales(chart);
  const parts = [
    ...bands.map(({ from, to }, index) => band(toX(from), toX(to), index)),
    ...ticks.flatMap((tick) => grid(toY(tick), short(tick))),
    ...marks.map((mark) =>
      label(toX(mark.x), plot.bottom + 18, mark.label, { 'text-anchor': 'middle' }),
    ),
    ...bands.map((one) =>
      label((toX(one.from) + toX(one.to)) / 2, plot.top - 8, one.label, {
        'text-anchor': 'middle',
      }),
    ),
    label(16, plot.top - 24, yLabel, { 'font-size': 11 }),
    ...lines.flatMap(({ name, points }, index) => {
      const color = palette[index % palette.length] ?? '';
      const path = points.map(({ x, y }) => `${toX(x).toFixed(1)},${toY(y).toFixed(1)}`).join(' ');
      const stroke = { fill: 'none', stroke: color, 'stroke-width': 2 };
      return [element('polyline', { points: path, ...stroke }), ...legend(name, color, index)];
    }),
  ];
  return { name, alt: title, svg: card(width, height, title, parts) };
}

function scales({ lines, bands = [], logX = false, logY = false }: LineChart) {
  const points = lines.flatMap((line) => line.points);
  const x = ends([...points.map((point) => point.x), ...bands.map(({ to }) => to)]);
  const values = points.map(({ y }) => y).filter((y) => y > 0);
  const ticks = logY ? powers(Math.min(...values), Math.max(...values)) : even(Math.max(...values));
  const y = ends(ticks);
  return {
    ticks,
    toX: (value: number) => scaled(value, x, [plot.left, plot.right], logX),
    toY: (value: number) => scaled(value, y, [plot.bottom, plot.top], logY),
  };
}

type Range = readonly [number, number];

function scaled(value: number, [least, most]: Range, [from, to]: Range, log: boolean): number {
  const at = (one: number) => (log ? Math.log(Math.max(one, least)) : one);
  const share = (at(value) - at(least)) / (at(most) - at(least) || 1);
  return from + share * (to - from);
}

function ends(values: number[]): Range {
  return [Math.min(...values), Math.max(...values)];
}

function powers(least: number, most: number): number[] {
  const from = Math.floor(Math.log10(least));
  const to = Math.max(from + 1, Math.ceil(Math.log10(most)));
  return Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
}

/** Returns ticks in round steps, starting at 0. */
function even(most: number): number[] {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step);
}

function grid(y: number, text: string): string[] {
  const line = { x1: plot.left, x2: plot.right, y1: y, y2: y, stroke: faint };
  return [element('line', line), label(plot.left - 8, y + 4, text, { 'text-anchor': 'end' })];
}

function band(from: number, to: number, index: number): string {
  const fill = index % 2 === 0 ? '#f1f5f9' : '#e2e8f0';
  const size = { width: to - from, height: plot.bottom - plot.top };
  return element('rect', { x: from, y: plot.top, ...size, fill });
}

function legend(name: string, color: string, index: number): string[] {
  const x = plot.left + (index % 4) * 170;
  const y = height - 24 + Math.floor(index / 4) * 14;
  const square = { x, y: y - 9, width: 10, height: 10, rx: 2, fill: color };
  return [element('rect', square), label(x + 15, y, name)];
}
