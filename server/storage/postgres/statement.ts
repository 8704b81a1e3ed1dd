/* Statements as data for a connection. */

export type Value = string | number | boolean | null;

/** A script is several statements without values; it is not pipelined. */
export type Statement = { text: string; values: readonly Value[]; isScript?: true };

export function statement(text: string, ...values: Value[]): Statement {
  return { text, values };
}

/**
 * The numbers of rows in one statement. Longer lists are split into these, so that few texts have
 * to be prepared.
 */
const chunkSizes = [64, 16, 4, 1];

/**
 * A statement over many rows. `write` receives the rows as the text of a VALUES list with columns
 * of the given types. The returned function makes as many statements as the rows need.
 */
export function overRows(types: readonly string[], write: (values: string) => string): OverRows {
  const textFor = remembered((count) => write(placeholders(types, count)));
  return (rows) =>
    chunks(rows).map((chunk) => ({ text: textFor(chunk.length), values: chunk.flat() }));
}

/**
 * The same for rows that begin with their project and bucket. If all rows are in one bucket, the
 * condition that `inBucket` returns for a column restricts the statement to it, so that a database
 * that is distributed by bucket involves one machine.
 */
export function overPlaces(
  types: readonly string[],
  write: (values: string, inBucket: (column: string) => string) => string,
): OverRows {
  const ofSeveral = overRows(types, (values) => write(values, () => ''));
  const textFor = remembered((count) => {
    const place = `$${count * types.length + 1}::int2`;
    return write(placeholders(types, count), (column) => ` AND ${column} = ${place}`);
  });
  return (rows) =>
    chunks(rows).flatMap((chunk) => {
      const [[, bucket = null] = []] = chunk;
      if (chunk.some((row) => row[1] !== bucket)) return ofSeveral(chunk);
      return { text: textFor(chunk.length), values: [...chunk.flat(), bucket] };
    });
}

type OverRows = (rows: readonly (readonly Value[])[]) => Statement[];

function remembered(write: (count: number) => string): (count: number) => string {
  const texts = new Map<number, string>();
  return (count) => {
    const text = texts.get(count) ?? write(count);
    texts.set(count, text);
    return text;
  };
}

/**
 * The time this many seconds from now, by the database's clock. Citus does not evaluate the sum of
 * a time and an interval on its machines, since it depends on the time zone.
 */
export function after(seconds: string): string {
  return `to_timestamp(extract(epoch FROM statement_timestamp())::float8 + ${seconds})`;
}

/** A list of texts as one value of type text[]. */
export function textArray(texts: readonly string[]): string {
  const quoted = texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);
  return `{${quoted.join(',')}}`;
}

/** Only the first row needs the casts. */
function placeholders(types: readonly string[], count: number): string {
  const rows = Array.from({ length: count }, (_, row) => {
    const cells = types.map((type, column) => {
      const place = `$${row * types.length + column + 1}`;
      return row === 0 ? `${place}::${type}` : place;
    });
    return `(${cells.join(', ')})`;
  });
  return `VALUES ${rows.join(', ')}`;
}

function chunks<T>(items: readonly T[]): T[][] {
  const cut: T[][] = [];
  for (let start = 0; start < items.length; ) {
    const left = items.length - start;
    const size = chunkSizes.find((one) => one <= left) ?? 1;
    cut.push(items.slice(start, start + size));
    start += size;
  }
  return cut;
}
