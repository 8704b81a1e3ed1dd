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
export function overRows(
  types: readonly string[],
  write: (values: string) => string,
): (rows: readonly (readonly Value[])[]) => Statement[] {
  const texts = new Map<number, string>();
  function textFor(count: number): string {
    const text = texts.get(count) ?? write(placeholders(types, count));
    texts.set(count, text);
    return text;
  }
  return (rows) =>
    chunks(rows).map((chunk) => ({ text: textFor(chunk.length), values: chunk.flat() }));
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
