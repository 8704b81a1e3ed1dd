/** The amount of text, in bytes or UTF-16 units, that is read for embedding at once. */
const maxSize = 1_000_000;

/**
 * Takes the first memories, and says up to which change nothing else is to be embedded. `rows` are
 * in the order of their changes. Several may have the same change.
 */
export function firstMemories<Row extends { change: number }>(
  rows: Iterable<Row>,
  options: { from: number; lastChange: number; limit: number; sizeOf(row: Row): number },
): { from: number; upTo: number; memories: Row[] } {
  const { from, lastChange, limit, sizeOf } = options;
  const memories: Row[] = [];
  let size = 0;
  for (const row of rows) {
    size += sizeOf(row);
    if (memories.length === limit || (memories.length > 0 && size > maxSize)) {
      return { from, upTo: Math.max(from, row.change - 1), memories };
    }
    memories.push(row);
  }
  return { from, upTo: Math.max(from, lastChange), memories };
}

/** Takes the first item of each list, then the second of each, up to the limit. */
export function turns<Item>(lists: readonly Item[][], limit: number): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const taken: Item[] = [];
  for (let at = 0; at < longest && taken.length < limit; at += 1) {
    for (const list of lists) {
      const item = list[at];
      if (item !== undefined && taken.length < limit) taken.push(item);
    }
  }
  return taken;
}
