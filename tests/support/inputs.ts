import fc from 'fast-check';

/* Boundary values of the contract, for parameterized tests. */

/** One code point, two UTF-16 code units, four bytes in UTF-8. */
export const astral = '🧠';

export const loneSurrogate = '\ud800';

/**
 * Any code point except surrogates, as a unit of `fc.string()`. Its own unit 'binary' keeps a
 * million strings in memory, which every full garbage collection then visits.
 */
export const anyCodePoint = fc
  .nat({ max: 0x10ffff - 0x800 })
  .map((at) => String.fromCodePoint(at < 0xd800 ? at : at + 0x800));

/** Invalid values for a text field of 1 to `max` characters. */
export function badTexts(max?: number): unknown[] {
  const values = [null, 7, true, { text: 'x' }, ['x'], '', 'a\0b', `a${loneSurrogate}b`];
  return max === undefined ? values : [...values, 'x'.repeat(max + 1), astral.repeat(max + 1)];
}

/** Like badTexts(), for an optional field of a record, where null and '' are allowed. */
export function badOptionalTexts(max?: number): unknown[] {
  return badTexts(max).filter((value) => value !== null && value !== '');
}

/** Strings of 1 to `max` characters that must be returned unchanged. */
export function goodTexts(max: number): [name: string, value: string][] {
  return [
    ['one character', 'x'],
    [`${max} characters`, 'x'.repeat(max)],
    [`${max} astral characters`, astral.repeat(max)],
    ['white space', ' \t\r\n '],
    ['a byte order mark', '\ufeffx\ufeff'],
    ['control and special characters', '\u0001\u007f\u0085\u2028\u200f\ufffe\uffff'],
    ['both normal forms', 'e\u0301 \u00e9'],
    ['JSON and SQL', `"\\'); DROP TABLE memories; --{}[]%_?&=+#`],
  ];
}

export const badMetadata: unknown[] = [
  ...[null, 'x', 1, []],
  // One byte over 16 KiB.
  ...[metadataOfBytes(16_385), { k: `${'é'.repeat(8_188)}x` }],
  // Nine levels.
  ...[nested(9), { k: nestedLists(8) }],
  ...[{ ['__proto__']: 1 }, { constructor: 1 }, { prototype: 1 }],
  { a: [{ b: { ['__proto__']: 1 } }] },
  ...[{ a: ['\0'] }, { 'a\0': 1 }, { a: { b: loneSurrogate } }, { [loneSurrogate]: 1 }],
];

export const goodMetadata: [name: string, value: object][] = [
  ['no keys', {}],
  ['an empty key', { '': '' }],
  ['every kind of value', { s: 'x', n: 1.5, t: true, f: false, z: null, l: [1, ['x'], {}], o: {} }],
  ['exactly 16 KiB', metadataOfBytes(16_384)],
  ['exactly 16 KiB in wide characters', { k: 'é'.repeat(8_188) }],
  ['8 levels of objects', nested(8)],
  ['8 levels of lists', { k: nestedLists(7) }],
  ['wide characters', { [astral]: 'Grüße\u2028' }],
];

export function metadataOfBytes(bytes: number): { k: string } {
  return { k: 'x'.repeat(bytes - '{"k":""}'.length) };
}

function nested(levels: number): object {
  return levels === 1 ? {} : { k: nested(levels - 1) };
}

function nestedLists(levels: number): unknown[] {
  return levels === 1 ? [] : [nestedLists(levels - 1)];
}

/** Returns a copy with the field at a dotted path replaced, or removed if `value` is undefined. */
export function withValue(base: object, path: string, value: unknown): object {
  const copy = structuredClone(base);
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  let inner = copy as Record<string, unknown>;
  for (const step of steps) inner = inner[step] as Record<string, unknown>;
  inner[last] = value;
  return copy;
}
