/**
 * Creates statements about many memories, which take a database less time than one for each, and
 * above all a distributed one, if the users are not known. `write` receives the placeholders of the
 * ids, which are numbered from `first`. There are two texts, so that few statements are prepared;
 * the longer one is for `idsAtOnce` ids, and filled up with '', which is no id.
 */
export function overIds(
  first: number,
  write: (placeholders: string) => string,
  idsAtOnce = 64,
): (ids: readonly string[]) => { text: string; ids: string[] }[] {
  const [one, many] = [write(placeholders(first, 1)), write(placeholders(first, idsAtOnce))];
  return (ids) => {
    if (ids.length === 1) return [{ text: one, ids: [...ids] }];
    const count = Math.ceil(ids.length / idsAtOnce);
    return Array.from({ length: count }, (_, part) => {
      const some = ids.slice(part * idsAtOnce, (part + 1) * idsAtOnce);
      const none = Array.from({ length: idsAtOnce - some.length }, () => '');
      return { text: many, ids: [...some, ...none] };
    });
  };
}

function placeholders(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `$${first + index}`).join(', ');
}
