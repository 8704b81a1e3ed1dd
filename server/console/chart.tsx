/** A line of a chart, oldest value first. A value that is unknown is null. */
export type Line = { name: string; values: (number | null)[] };

type ChartProps = { title: string; lines: Line[]; format: (value: number) => string };

const width = 300;
const height = 64;
/** The number of values that a chart shows. */
export const maxValues = 60;

/** Draws up to two lines, with their latest values as text. */
export function Chart({ title, lines, format }: ChartProps) {
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const max = Math.max(...known, 0);
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        {lines.map(({ name, values }, at) => (
          <span key={name} class={`line-${at}`}>
            {name} <b>{shown(values.at(-1), format)}</b>
          </span>
        ))}
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {lines.map(({ name, values }, at) => (
          <path key={name} class={`line-${at}`} d={pathOf(values, max)} />
        ))}
      </svg>
      <p class="most">{max > 0 ? `at most ${format(max)}` : 'nothing yet'}</p>
    </figure>
  );
}

function shown(value: number | null | undefined, format: ChartProps['format']): string {
  return value === null || value === undefined ? '–' : format(value);
}

/** The latest value is at the right edge. Unknown values leave a gap. */
function pathOf(values: Line['values'], max: number): string {
  const steps = values.map((value, at) => {
    if (value === null) return '';
    const x = width - ((values.length - 1 - at) / (maxValues - 1)) * width;
    const y = height - 2 - (max === 0 ? 0 : (value / max) * (height - 4));
    const command = (values[at - 1] ?? null) === null ? 'M' : 'L';
    return `${command}${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  return steps.join('');
}
