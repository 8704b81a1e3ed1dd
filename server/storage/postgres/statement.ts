export type Value = string | number | boolean | null;

/** A script consists of several statements without values. It is not pipelined. */
export type Statement = { text: string; values: readonly Value[]; isScript?: true };

export function statement(text: string, ...values: Value[]): Statement {
  return { text, values };
}

export type Row = Record<string, unknown>;

/** Runs the statements in order and returns the rows of each. Rejects with the first error. */
export type Run = (statements: readonly Statement[]) => Promise<Row[][]>;

/** Runs one statement and returns its rows. */
export async function query<Found = Row>(
  run: Run,
  text: string,
  ...values: Value[]
): Promise<Found[]> {
  const [rows = []] = await run([statement(text, ...values)]);
  return rows as Found[];
}

/**
 * The numbers of rows that one statement can process. There are only a few, so that few statements
 * are prepared.
 */
const chunkSizes = [64, 16, 4, 1]; // mutate-ignore constant: affects only speed

/**
 * Creates statements that process many rows. `write` receives a VALUES list with parameters of the
 * given types and returns a statement's text. The returned function uses as many statements as
 * necessary.
 */
export function overRows(types: readonly string[], write: (values: string) => string): OverRows {
  const textFor = remembered((count) => write(placeholders(types, count)));
  return (rows) =>
    chunks(rows).map((chunk) => ({ text: textFor(chunk.length), values: chunk.flat() }));
}

/**
 * Like `overRows`, but for rows that begin with project and bucket. If all rows are in one bucket,
 * `inBucket` returns a condition for that bucket, so that a distributed database needs only one
 * machine.
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
    texts.set(count, text); // mutate-ignore removal: fills a cache
    return text;
  };
}

/**
 * Returns an expression for the time `seconds` from now, by the database's clock. Citus cannot add
 * an interval to a time on its workers, because the sum depends on the time zone.
 */
export function after(seconds: string): string {
  return `to_timestamp(extract(epoch FROM statement_timestamp())::float8 + ${seconds})`;
}

export function textArray(texts: readonly string[]): string {
  const quoted = texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);
  return `{${quoted.join(',')}}`;
}

/** Returns a VALUES list of parameters. Only the first row needs casts. */
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
