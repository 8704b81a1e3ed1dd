/** A fast path for ASCII text: the same result as `normalizeUnicode` in a fifth of the time. */

const space = 0x20;
const apostrophe = 0x27;
const comma = 0x2c;
const [lowerN, lowerT] = [0x6e, 0x74];

/** English endings after an apostrophe ("Ana's", "we'll"), each packed into one number. */
const endings: ReadonlySet<number> = new Set(
  ['s', 'm', 'd', 're', 've', 'll'].map((ending) => pair(...Buffer.from(ending))),
);

/** An apostrophe or a comma, which may be part of a word. */
const joiner = 0;

/** The normalized form of each unit: a letter or digit, `space` or `joiner`. */
const forms = new Uint8Array(128).fill(space);
for (const unit of 'abcdefghijklmnopqrstuvwxyz0123456789') {
  forms[unit.charCodeAt(0)] = unit.charCodeAt(0);
  forms[unit.toUpperCase().charCodeAt(0)] = unit.charCodeAt(0);
}
for (const unit of [apostrophe, comma]) forms[unit] = joiner;

/** This buffer is reused for every call and grows to the length of the longest input. */
let buffer = Buffer.alloc(2_048);

export function normalizeAscii(text: string): string {
  if (buffer.length < text.length) buffer = Buffer.alloc(text.length);
  const out = buffer;
  let end = 0;
  let wasSeparator = 1;
  for (let at = 0; at < text.length; at += 1) {
    let form = forms[text.charCodeAt(at)] ?? space;
    if (form === joiner) {
      const last = wasSeparator === 1 ? space : (out[end - 1] ?? space);
      const joined = joinedLength(text, at, last);
      at += Math.max(0, joined - 1);
      if (joined > 0) continue;
      form = space;
    }
    // Branch-free, because a branch would be mispredicted on every word and double the time.
    const isSeparator = (form - space - 1) >>> 31;
    out[end] = form;
    end += 1 - (isSeparator & wasSeparator);
    wasSeparator = isSeparator;
  }
  // mutate-ignore operand: an end below 0 is also empty
  if (wasSeparator === 1 && end > 0) end -= 1;
  return out.toString('latin1', 0, end);
}

/**
 * Returns the number of units to drop at an apostrophe or a comma, or 0 if the mark separates
 * words. The whole of "'s" and "'ll" is dropped, but only the mark in "n't" and "1,000". `last` is
 * the last unit written.
 */
function joinedLength(text: string, at: number, last: number): number {
  if (text.charCodeAt(at) === comma) return isDigit(last) && isThousand(text, at + 1) ? 1 : 0;
  const [first, second] = [formAt(text, at + 1), formAt(text, at + 2)];
  if (last === lowerN && first === lowerT && second <= space) return 1;
  if (formAt(text, at - 1) <= space) return 0;
  if (second <= space) return endings.has(pair(first)) ? 2 : 0;
  return formAt(text, at + 3) <= space && endings.has(pair(first, second)) ? 3 : 0;
}

function pair(first = 0, second = 0): number {
  return (first << 8) | second;
}

function isThousand(text: string, at: number): boolean {
  return /^\d{3}(?!\d)/.test(text.slice(at, at + 4));
}

/** Returns the normalized form of the unit, or `space` after the end of the text. */
function formAt(text: string, at: number): number {
  return forms[text.charCodeAt(at)] ?? space;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}
