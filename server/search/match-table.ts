import type { Dictionary } from './dictionary.ts';
import type { Match, Matcher } from './match.ts';
import { noWord } from './word-table.ts';

/** The matches of a whole dictionary: each word's code, and the match that each code stands for. */
export class MatchTable {
  /** 0 is no match. */
  readonly codes: Uint8Array;
  readonly matches: Match[] = [{ term: -1, weight: 0 }];
  readonly #codeOf = new Map<string, number>();

  constructor(matcher: Matcher, dictionary: Dictionary) {
    this.codes = new Uint8Array(dictionary.size);
    this.#addPrefixes(matcher, dictionary);
    for (const [text, match] of matcher.stems) {
      const code = this.#code(match);
      for (const word of dictionary.wordsOfStem(text)) this.codes[word] = code;
    }
    for (const [text, match] of matcher.bigrams) this.set(dictionary.find(text), match);
    for (const [text, match] of matcher.words) this.set(dictionary.find(text), match);
  }

  set(word: number, match: Match): void {
    if (word !== noWord) this.codes[word] = this.#code(match);
  }

  /** The terms that some word of the dictionary matches. */
  matchedTerms(): Set<number> {
    const found = new Uint8Array(this.matches.length);
    const { codes } = this;
    for (let word = 1; word < codes.length; word += 1) found[codes[word] ?? 0] = 1;
    return new Set(this.matches.flatMap(({ term }, code) => (found[code] === 1 ? [term] : [])));
  }

  /** Words that begin as the last word does, and bigrams that begin with a unit asked for alone. */
  #addPrefixes({ prefix, bigrams }: Matcher, dictionary: Dictionary): void {
    const single = [...bigrams].filter(([text]) => text.length === 1);
    if (prefix === null && single.length === 0) return;
    const codeOf = new Uint8Array(0x10000);
    for (const [text, match] of single) codeOf[text.charCodeAt(0)] = this.#code(match);
    const first = prefix?.text.charCodeAt(0) ?? 0;
    if (prefix !== null) codeOf[first] = this.#code(prefix.match);
    const { words } = dictionary;
    const starts = words.starts.values;
    for (let word = 1; word < this.codes.length; word += 1) {
      const unit = words.units[starts[word] ?? 0] ?? 0;
      const code = codeOf[unit] ?? 0;
      if (code === 0 || dictionary.counts.at(word) === 0) continue;
      const isMatch = unit !== first || words.startsWith(word, prefix?.text ?? '');
      if (isMatch) this.codes[word] = code;
    }
  }

  #code(match: Match): number {
    const key = `${match.term} ${match.weight}`;
    const known = this.#codeOf.get(key);
    if (known !== undefined) return known;
    // Four kinds of match for each of 48 terms, and one for the prefix: below 256.
    const code = this.matches.push(match) - 1;
    this.#codeOf.set(key, code);
    return code;
  }
}
