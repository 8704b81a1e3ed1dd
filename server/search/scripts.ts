/** The first and last units of scripts without spaces, and of Hangul, except for planes 2 and 3. */
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

export const unspacedRun = new RegExp(`[${classes.join('')}\u{20000}-\u{3ffff}]+`, 'gu');

/** 1 for each UTF-16 unit of these scripts, and for the high surrogates of planes 2 and 3. */
const unspacedUnits = new Uint8Array(0x10000);
for (const [first, last] of [...unspacedRanges, [0xd840, 0xd8bf]] as const) {
  unspacedUnits.fill(1, first, last + 1);
}

export function isUnspaced(unit: number): boolean {
  return unspacedUnits[unit] === 1;
}

/**
 * Returns the length of an n-gram, in units. In Thai, Lao, Burmese and Khmer, two letters carry too
 * little information, unlike two characters in Chinese or Japanese.
 */
export function ngramLength(unit: number): number {
  return unit < 0x1800 ? 3 : 2;
}

export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
