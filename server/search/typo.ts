/**
 * The minimum length of a term with a typo. In a term of three letters, only a swap is accepted,
 * because most three-letter words have many similar words.
 */
export const minTypoLength = 3;
/** A term of at least this length may be both unfinished and mistyped. */
export const minUnfinishedLength = 5;

type Word = { units: Uint16Array; start: number; end: number };

/** Whether the typed text is the word with one typo, or with one typo and a missing end. */
export function isTypo(typed: Uint16Array, { units, start, end }: Word): boolean {
  const length = end - start;
  if (isOneEdit(typed, units, start, end)) {
    return typed.length > minTypoLength || typed.length === length;
  }
  if (typed.length < minUnfinishedLength || length <= typed.length + 1) return false;
  const cut = start + typed.length;
  return (
    isOneEdit(typed, units, start, cut - 1) ||
    isOneEdit(typed, units, start, cut) ||
    isOneEdit(typed, units, start, cut + 1)
  );
}

/**
 * Whether at most one letter is wrong, missing or extra, or two adjacent letters are swapped. In a
 * word of three letters, a wrong letter is not accepted.
 */
function isOneEdit(typed: Uint16Array, units: Uint16Array, start: number, end: number): boolean {
  const extra = end - start - typed.length;
  if (extra < -1 || extra > 1) return false;
  let same = 0;
  while (same < typed.length && start + same < end && typed[same] === units[start + same]) same++;
  const at = start + same;
  if (extra === 1) return isSameRest(typed, same, units, at + 1, end);
  if (extra === -1) return isSameRest(typed, same + 1, units, at, end);
  if (same === typed.length) return true;
  const isSwapped = typed[same] === units[at + 1] && typed[same + 1] === units[at];
  if (isSwapped && at + 1 < end && isSameRest(typed, same + 2, units, at + 2, end)) {
    return true;
  }
  return typed.length > minTypoLength && isSameRest(typed, same + 1, units, at + 1, end);
}

function isSameRest(
  typed: Uint16Array,
  from: number,
  units: Uint16Array,
  start: number,
  end: number,
): boolean {
  if (typed.length - from !== end - start) return false;
  for (let at = start; at < end; at += 1) if (typed[from + at - start] !== units[at]) return false;
  return true;
}

/**
 * Returns a mask with one bit per letter, chosen by the letter's low five bits. An edit changes at
 * most two bits.
 */
export function letterMask(units: Uint16Array, start: number, end: number): number {
  let mask = 0;
  for (let at = start; at < end; at += 1) mask |= 1 << ((units[at] ?? 0) & 31);
  return mask >>> 0;
}

export function unitsOf(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
}
