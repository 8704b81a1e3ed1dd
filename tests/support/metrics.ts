import { expect } from 'bun:test';
import type { TestServer } from './server.ts';

/* A strict parser for the text formats of Prometheus and OpenMetrics. */

export type Metrics = {
  /** The value of each time series, by its line up to the value. */
  values: Map<string, number>;
  /** The type of each metric. */
  types: Map<string, string>;
  /** The value of a time series; 0 if it does not exist. */
  get(series: string): number;
};

export async function readMetrics({ url }: Pick<TestServer, 'url'>): Promise<Metrics> {
  const response = await fetch(`${url}/metrics`);
  expect(response.status).toBe(200);
  return parseMetrics(await response.text());
}

const helpLine = /^# HELP ([a-z_]+) ([A-Z][^"\\]*\.)$/;
const typeLine = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/;
const label = String.raw`[a-z]+="(?:[^"\\\n]|\\["\\n])*"`;
const sampleLine = new RegExp(
  String.raw`^(([a-z_]+)(?:\{(${label}(?:,${label})*)\})?) (\d+(?:\.\d+)?(?:e[+-]\d+)?)$`,
);

export function parseMetrics(text: string, format: 'text' | 'openMetrics' = 'text'): Metrics {
  const values = new Map<string, number>();
  const types = new Map<string, string>();
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  if (format === 'openMetrics') expect(lines.pop()).toBe('# EOF');
  let family = '';
  for (const line of lines) {
    const [, described] = helpLine.exec(line) ?? [];
    const [, typed = '', type = ''] = typeLine.exec(line) ?? [];
    const [, series = '', name = '', , value] = sampleLine.exec(line) ?? [];
    if (described !== undefined) {
      family = described;
      expect(types.has(family)).toBe(false);
    } else if (typed !== '') {
      expect(typed).toBe(family);
      types.set(family, type);
    } else {
      const isOfFamily = suffixesOf(types.get(family), format).some((one) => name === family + one);
      expect({ line, isOfFamily }).toEqual({ line, isOfFamily: true });
      expect(values.has(series)).toBe(false);
      values.set(series, Number(value));
    }
  }
  expectHistograms(values, types);
  return { values, types, get: (series) => values.get(series) ?? 0 };
}

/** What the name of a sample adds to the name of its metric. */
function suffixesOf(type: string | undefined, format: 'text' | 'openMetrics'): string[] {
  if (type === 'histogram') return ['_bucket', '_sum', '_count'];
  return type === 'counter' && format === 'openMetrics' ? ['_total'] : [''];
}

/** The buckets of a histogram must grow, and end with the number of all values. */
function expectHistograms(values: Map<string, number>, types: Map<string, string>): void {
  for (const [name, type] of types) {
    if (type === 'counter') expect(name.replace(/(_total)?$/, '_total')).toEndWith('_total');
    if (type !== 'histogram') continue;
    for (const buckets of bucketsOf(name, values)) {
      const bounds = buckets.list.map(({ bound }) => bound);
      const counts = buckets.list.map(({ count }) => count);
      expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      expect(bounds.at(-1)).toBe(Number.POSITIVE_INFINITY);
      expect(values.get(`${name}_count${buckets.labels}`)).toBe(counts.at(-1));
      expect(values.has(`${name}_sum${buckets.labels}`)).toBe(true);
    }
  }
}

function bucketsOf(name: string, values: Map<string, number>) {
  const found = new Map<string, { bound: number; count: number }[]>();
  for (const [series, count] of values) {
    if (!series.startsWith(`${name}_bucket{`)) continue;
    const [, others = '', le = ''] = /\{(.*?),?le="(.+)"\}$/.exec(series) ?? [];
    const labels = others === '' ? '' : `{${others}}`;
    const list = found.get(labels) ?? [];
    list.push({ bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count });
    found.set(labels, list);
  }
  return [...found].map(([labels, list]) => ({ labels, list }));
}
