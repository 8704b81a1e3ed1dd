/*
 * A fast path for ASCII text, which is the common case: does the same as normalize.ts in one pass
 * over the units. That takes a fifth of the time of the regular expressions.
 */

const space = 0x20;
const apostrophe = 0x27;
const comma = 0x2c;
const lowerN = 0x6e;

const shortEndings: ReadonlySet<string> = new Set(['s', 'm', 'd']);
const longEndings: ReadonlySet<string> = new Set(['re', 've', 'll']);

/** The normalized form of each unit; 0 where it separates words. */
const forms = new Uint8Array(128);
for (const unit of 'abcdefghijklmnopqrstuvwxyz0123456789') {
  forms[unit.charCodeAt(0)] = unit.charCodeAt(0);
  forms[unit.toUpperCase().charCodeAt(0)] = unit.charCodeAt(0);
}

/** Reused for every text. It grows to the length of the longest one. */
let buffer = Buffer.alloc(2_048);

export function normalizeAscii(text: string): string {
  if (buffer.length < text.length) buffer = Buffer.alloc(text.length);
  const out = buffer;
  let end = 0;
  let isSeparated = true;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const form = forms[unit] ?? 0;
    if (form > 0) {
      out[end++] = form;
      isSeparated = false;
    } else {
      const last = isSeparated ? 0 : (out[end - 1] ?? 0);
      const joined = unit === apostrophe || unit === comma ? joinedLength(text, at, last) : 0;
      at += Math.max(0, joined - 1);
      if (joined > 0) continue;
      if (!isSeparated) out[end++] = space;
      isSeparated = true;
    }
  }
  if (isSeparated && end > 0) end -= 1;
  return out.toString('latin1', 0, end);
}

/**
 * The number of units to drop at an apostrophe or a comma without a word break: all of "'s" and
 * "'ll", and only the mark in "n't" and "1,000". `last` is the unit that was written before.
 */
function joinedLength(text: string, at: number, last: number): number {
  if (text.charCodeAt(at) === comma) return isDigit(last) && isThousand(text, at + 1) ? 1 : 0;
  if (last === lowerN && lower(text, at + 1) === 't' && !isWordUnit(text, at + 2)) return 1;
  if (!isWordUnit(text, at - 1)) return 0;
  const [first, second] = [lower(text, at + 1), lower(text, at + 2)];
  if (!isWordUnit(text, at + 2)) return shortEndings.has(first) ? 2 : 0;
  return longEndings.has(first + second) && !isWordUnit(text, at + 3) ? 3 : 0;
}

function isThousand(text: string, at: number): boolean {
  return /^\d{3}(?!\d)/.test(text.slice(at, at + 4));
}

function lower(text: string, at: number): string {
  return text.charAt(at).toLowerCase();
}

function isWordUnit(text: string, at: number): boolean {
  return (forms[text.charCodeAt(at)] ?? 0) > 0;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}
