/** Scripts that put no spaces between words, first and last unit; planes 2 and 3 come on top. */
const unspacedRanges = [
  [0x0e00, 0x0eff],
  [0x1000, 0x109f],
  [0x1780, 0x17ff],
  [0x3005, 0x3007],
  [0x3040, 0x30ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7af],
] as const;

const classes = unspacedRanges.map((ends) => [...String.fromCharCode(...ends)].join('-'));

/** Matches each run of such a script. */
export const unspacedRun = new RegExp(`[${classes.join('')}\u{20000}-\u{3ffff}]+`, 'gu');

/** Whether a UTF-16 unit belongs to a script that puts no spaces between words. */
export function isUnspaced(unit: number): boolean {
  // Most text is below all of them.
  if (unit < unspacedRanges[0][0]) return false;
  // The high surrogates of planes 2 and 3.
  if (unit >= 0xd840 && unit <= 0xd8bf) return true;
  return unspacedRanges.some(([first, last]) => unit >= first && unit <= last);
}

export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
