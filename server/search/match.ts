import { withoutAccents } from './normalize.ts';
import type { Query } from './query.ts';
import { stem } from './stem.ts';
import type { SearchWeights } from './weights.ts';
import { irregularForms, synonyms } from './words.ts';

/** The query term that a word matches, and the weight of the match: 1 for the same word. */
export type Match = { term: number; weight: number };

const stemsOfForms = byStem(irregularForms, (word) => [stem(word)]);
const stemsOfSynonyms = byStem(synonyms, formStems);

/** Decides which words match which terms of a query. The first match of a word or stem wins. */
export class Matcher {
  readonly query: Query;
  readonly words = new Map<string, Match>();
  readonly stems = new Map<string, Match>();
  readonly ngrams = new Map<string, Match>();
  /** The match for words that begin with the unfinished last word. */
  readonly prefix: { text: string; match: Match } | null;
  readonly #weights: SearchWeights;

  constructor(query: Query, weights: SearchWeights) {
    this.query = query;
    this.#weights = weights;
    const stems = query.terms.map(({ text, isNgram }) => (isNgram ? [] : formStems(text)));
    for (const [term, { text, isNgram }] of query.terms.entries()) {
      (isNgram ? this.ngrams : this.words).set(text, { term, weight: 1 });
      const isAccented = withoutAccents(text) !== text;
      const weight = isAccented ? weights.otherAccents : weights.inflection;
      this.#addStems(stems[term] ?? [], { term, weight });
    }
    for (const [term, forms] of stems.entries()) {
      if (weights.synonym === 0) break; // mutate-ignore constant: the weight is never 1
      const related = forms.flatMap((form) => stemsOfSynonyms.get(form) ?? []);
      this.#addStems(related, { term, weight: weights.synonym });
    }
    for (const { left, right } of query.pairs) this.#addJoined(left, right);
    const last = query.terms[query.prefix];
    const match = { term: query.prefix, weight: weights.prefix };
    this.prefix = last === undefined ? null : { text: last.text, match };
  }

  match(word: string): Match | null {
    const known = this.words.get(word) ?? this.stems.get(knownStem(word));
    if (known !== undefined) return known;
    return this.prefix !== null && word.startsWith(this.prefix.text) ? this.prefix.match : null;
  }

  addFuzzy(word: string, term: number): Match {
    const match = { term, weight: this.#weights.fuzzy };
    this.words.set(word, match);
    return match;
  }

  #addStems(stems: readonly string[], match: Match): void {
    for (const one of stems) if (!this.stems.has(one)) this.stems.set(one, match);
  }

  /** "ERR-4711" also matches "ERR4711", and "note book" matches "notebook". */
  #addJoined(left: number, right: number): void {
    const first = this.query.terms[left];
    const second = this.query.terms[right];
    if (first === undefined || second === undefined || first.isNgram || second.isNgram) return;
    const joined = first.text + second.text;
    if (!this.words.has(joined)) this.words.set(joined, { term: left, weight: 1 });
  }
}

/**
 * A cache of stems. Text repeats the same words, and stemming a word takes ten times as long as a
 * lookup. Without the cache, half the time to build a snippet would be spent on stemming.
 */
const knownStems = new Map<string, string>();
const maxKnownStems = 10_000;
/** Longer tokens are not cached: they are hashes and encoded data, not words. */
const maxKnownLength = 32; // mutate-ignore constant: affects only what is cached

function knownStem(word: string): string {
  const known = knownStems.get(word);
  if (known !== undefined) return known;
  const stemmed = stem(word);
  if (knownStems.size === maxKnownStems) knownStems.clear();
  if (word.length <= maxKnownLength) knownStems.set(word, stemmed);
  return stemmed;
}

/** Returns a word's stem and the stems of its irregular forms. */
function formStems(word: string): readonly string[] {
  const stemmed = stem(word);
  return [stemmed, ...(stemsOfForms.get(stemmed) ?? [])];
}

/** Maps the stem of each word to the stems of the words in its groups. */
function byStem(
  groups: readonly (readonly string[])[],
  stemsOf: (word: string) => readonly string[],
): Map<string, readonly string[]> {
  const stems = new Map<string, readonly string[]>();
  for (const group of groups) {
    const related = group.flatMap(stemsOf);
    for (const word of group.map(stem)) {
      stems.set(word, [...new Set([...(stems.get(word) ?? []), ...related])]);
    }
  }
  return stems;
}
