/** The sizes of lists in a statement that runs on many machines, and costs much on each of them. */
export const longLists = [64, 500]; // mutate-ignore constant: affects only speed

/**
 * Creates statements about many memories, which take a database less time than one for each, and
 * above all a distributed one, if the users are not known. `write` receives the placeholders of the
 * ids, which are numbered from `first`. There are few texts, so that few statements are prepared:
 * one for a single id, and one for each of the sizes, filled up with '', which is no id.
 */
export function overIds(
  first: number,
  write: (placeholders: string) => string,
  sizes: readonly number[] = [64], // mutate-ignore constant: affects only speed
): (ids: readonly string[]) => { text: string; ids: string[] }[] {
  // mutate-ignore constant: affects only speed
  const forms = [1, ...sizes].map((size) => ({ size, text: write(placeholders(first, size)) }));
  const largest = Math.max(...sizes);
  return (ids) =>
    Array.from({ length: Math.ceil(ids.length / largest) }, (_, part) => {
      const some = ids.slice(part * largest, (part + 1) * largest);
      const form = forms.find(({ size }) => size >= some.length);
      if (form === undefined) throw new Error('a list of ids is longer than every statement');
      const none = Array.from({ length: form.size - some.length }, () => '');
      return { text: form.text, ids: [...some, ...none] };
    });
}

function placeholders(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `$${first + index}`).join(', ');
}
