/*
 * Converts normalized text to tokens. A token is the number of a word in the dictionary, with two
 * flags in the low bits. A run of a script without spaces has a token for each of its units: the
 * n-gram that begins there, which is shorter at the end of the run.
 */
import type { Uint32List } from './columns.ts';
import type { Dictionary } from './dictionary.ts';
import { isLowSurrogate, isUnspaced, ngramLength } from './scripts.ts';
import { noWord } from './word-table.ts';

/** Flag: the token is in the label at the start of a line, which names the speaker. */
export const inLabel = 1;
/** Flag: the token is the last token of the label. */
export const endsLabel = 2;
const flagBits = 2; // mutate-ignore constant: a third bit is unused

const space = 32;
const newline = 10;
const colon = 58;

export function wordOf(token: number): number {
  return token >>> flagBits;
}

export function withWord(token: number, word: number): number {
  return (word << flagBits) | (token & (inLabel | endsLabel));
}

/** Appends the tokens of the text to the list. Returns whether the text has a label. */
export function tokenize(text: string, dictionary: Dictionary, tokens: Uint32List): boolean {
  let lineStart = tokens.length;
  let labelled = false;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    if (isSeparator(unit)) {
      if (unit === newline) lineStart = tokens.length;
      else if (unit === colon) labelled = markLabel(tokens, lineStart);
      at += 1;
    } else if (isUnspaced(unit)) {
      at = pushNgrams(text, at, dictionary, tokens);
    } else {
      const end = wordEnd(text, at);
      tokens.push(dictionary.intern(text, at, end) << flagBits);
      at = end;
    }
  }
  return labelled;
}

function markLabel(tokens: Uint32List, lineStart: number): true {
  const values = tokens.values;
  for (let at = lineStart; at < tokens.length; at += 1) values[at] = (values[at] ?? 0) | inLabel;
  if (lineStart < tokens.length)
    values[tokens.length - 1] = tokens.at(tokens.length - 1) | endsLabel;
  return true;
}

function pushNgrams(text: string, start: number, dictionary: Dictionary, tokens: Uint32List) {
  let end = start + 1;
  while (end < text.length && isInRun(text.charCodeAt(end))) end += 1;
  for (let at = start; at < end; at += 1) {
    // No n-gram begins at a low surrogate, but the surrogate counts as a position.
    const unit = text.charCodeAt(at);
    const word = isLowSurrogate(unit)
      ? noWord
      : dictionary.intern(text, at, Math.min(at + ngramLength(unit), end));
    tokens.push(word << flagBits);
  }
  return end;
}

function isInRun(unit: number): boolean {
  return isUnspaced(unit) || isLowSurrogate(unit);
}

function wordEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && !isSeparator(text.charCodeAt(end))) end += 1;
  return end;
}

function isSeparator(unit: number): boolean {
  return unit <= colon && (unit <= space || unit === colon);
}
