/**
 * Returns all patterns that are one edit away from a word: a wrong, missing or extra letter, or two
 * swapped letters. `?` matches any letter.
 */
function editsOf(word: string): string[] {
  return [...Array(word.length + 1).keys()].flatMap((at) => {
    const [head, first, second, tail] = [
      word.slice(0, at),
      word.charAt(at),
      word.charAt(at + 1),
      word.slice(at + 2),
    ];
    const edits = [`${head}?${word.slice(at)}`];
    if (first !== '') edits.push(head + word.slice(at + 1), `${head}?${word.slice(at + 1)}`);
    if (second !== '') edits.push(head + second + first + tail);
    return edits;
  });
}

function isWithinOneEdit(typed: string, word: string): boolean {
  if (typed === word) return true;
  const fits = (edit: string) => {
    return (
      edit.length === word.length &&
      [...Array(edit.length).keys()].every((at) => edit[at] === '?' || edit[at] === word[at])
    );
  };
  return editsOf(typed).some(fits);
}

/** Returns the same result as `isTypo`, by enumerating all edits. */
export function isReferenceTypo(typed: string, word: string): boolean {
  if (typed.length < 3) return typed === word;
  if (typed.length === 3) return isSwap(typed, word);
  const lengths = [-1, 0, 1].map((extra) => typed.length + extra);
  if (isWithinOneEdit(typed, word)) return true;
  if (typed.length < 5 || word.length <= typed.length + 1) return false;
  return lengths.some((length) => isWithinOneEdit(typed, word.slice(0, length)));
}

function isSwap(typed: string, word: string): boolean {
  const [a, b, c] = typed;
  return [typed, `${b}${a}${c}`, `${a}${c}${b}`].includes(word);
}
