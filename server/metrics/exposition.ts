/** A metric with its current values. A sample's suffix is added to the name of the metric. */
export type Family = {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  samples: Sample[];
};

export type Sample = { suffix?: string; labels?: Record<string, string>; value: number };

/** Returns a metric with its samples, or with a single one. An unknown value has none. */
export function family(
  type: Family['type'],
  name: string,
  help: string,
  value: number | null | Sample[],
): Family {
  return { name, type, help, samples: typeof value === 'number' ? [{ value }] : (value ?? []) };
}

type Format = keyof typeof contentTypes;

export const contentTypes = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** Formats metrics as Prometheus reads them, in its text format 0.0.4 or as OpenMetrics 1.0. */
export function renderMetrics(families: readonly Family[], format: Format): string {
  const lines = families.flatMap((family) => linesOf(family, format));
  if (format === 'openMetrics') lines.push('# EOF');
  return `${lines.join('\n')}\n`;
}

function linesOf({ name, type, help, samples }: Family, format: Format): string[] {
  if (samples.length === 0) return [];
  // In OpenMetrics, `_total` belongs to the sample of a counter, not to its name.
  const described = format === 'openMetrics' && type === 'counter' ? name.slice(0, -6) : name;
  return [
    `# HELP ${described} ${help}`,
    `# TYPE ${described} ${type}`,
    ...samples.map(({ suffix = '', labels = {}, value }) => {
      return `${name}${suffix}${renderLabels(labels)} ${value}`;
    }),
  ];
}

function renderLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
}

/** Returns the format that a client prefers, by its Accept header. */
export function formatFor(accept: string | null): Format {
  const quality = (type: string) =>
    Math.max(0, ...(accept ?? '').split(',').map((range) => qualityOf(range, type)));
  const openMetrics = quality('application/openmetrics-text');
  return openMetrics > 0 && openMetrics >= quality('text/plain') ? 'openMetrics' : 'text';
}

function qualityOf(range: string, type: string): number {
  const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  if (name !== type) return 0;
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  const [, quality = '1'] = /^q=(\d(?:\.\d+)?)$/.exec(given ?? '') ?? [];
  return Number(quality);
}
