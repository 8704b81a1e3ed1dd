import type { Dictionary } from './dictionary.ts';
import type { Match, Matcher } from './match.ts';
import { ngramLength } from './scripts.ts';
import { noWord } from './word-table.ts';

/** The matches of a whole dictionary: a code for each word, and a match for each code. */
export class MatchTable {
  /** The code of each word; 0 means no match. */
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
    for (const [text, match] of matcher.ngrams) this.set(dictionary.find(text), match);
    for (const [text, match] of matcher.words) this.set(dictionary.find(text), match);
  }

  set(word: number, match: Match): void {
    if (word !== noWord) this.codes[word] = this.#code(match);
  }

  matchedTerms(): Set<number> {
    const found = new Uint8Array(this.matches.length);
    const { codes } = this;
    for (let word = 1; word < codes.length; word += 1) found[codes[word] ?? 0] = 1;
    return new Set(this.matches.flatMap(({ term }, code) => (found[code] === 1 ? [term] : [])));
  }

  /** Adds the words that begin with the last word of the query or with a short n-gram. */
  #addPrefixes(matcher: Matcher, { words, counts }: Dictionary): void {
    const prefixes = this.#prefixesByUnit(matcher);
    if (prefixes.size === 0) return;
    const isFirst = new Uint8Array(0x10000);
    for (const unit of prefixes.keys()) isFirst[unit] = 1;
    const { units } = words;
    const starts = words.starts.values;
    for (let word = 1; word < this.codes.length; word += 1) {
      const unit = units[starts[word] ?? 0] ?? 0;
      if (isFirst[unit] !== 1 || counts.at(word) === 0) continue;
      const found = prefixes.get(unit)?.find(({ text }) => words.startsWith(word, text));
      if (found !== undefined) this.codes[word] = found.code;
    }
  }

  /** Groups the prefixes by their first unit, longest first: the longest is the best match. */
  #prefixesByUnit({ prefix, ngrams }: Matcher): Map<number, { text: string; code: number }[]> {
    const all = [...ngrams].filter(([text]) => text.length < ngramLength(text.charCodeAt(0)));
    if (prefix !== null) all.push([prefix.text, prefix.match]);
    all.sort(([left], [right]) => right.length - left.length);
    const coded = all.map(([text, match]) => ({ text, code: this.#code(match) }));
    return Map.groupBy(coded, ({ text }) => text.charCodeAt(0));
  }

  #code(match: Match): number {
    const key = `${match.term} ${match.weight}`;
    const known = this.#codeOf.get(key);
    if (known !== undefined) return known;
    // A byte is enough: each of 48 terms has at most four weights, and there is one prefix.
    const code = this.matches.push(match) - 1;
    this.#codeOf.set(key, code);
    return code;
  }
}
