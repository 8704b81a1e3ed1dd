import { withParts } from './camel-case.ts';
import { normalizeWords, withoutAccents } from './normalize.ts';
import { maxTerms, type Query } from './query.ts';
import { stem } from './stem.ts';
import type { SearchWeights } from './weights.ts';
import { irregularForms, synonyms } from './words.ts';

/** The query term that a word matches, and the weight of the match: 1 for the same word. */
export type Match = { term: number; weight: number };

const stemsOfForms = byStem(irregularForms, (word) => [stem(word)]);
const stemsOfSynonyms = byStem(synonyms, formStems);

/** Decides which words match which terms of a query. The first match of a word or stem wins. */
export class Matcher {
  /** The query, with the parts of terms that are written otherwise. */
  readonly query: Query;
  readonly words = new Map<string, Match>();
  readonly stems = new Map<string, Match>();
  readonly ngrams = new Map<string, Match>();
  /** The match for words that begin with the unfinished last word. */
  readonly prefix: { text: string; match: Match } | null;
  readonly #weights: SearchWeights;

  constructor(query: Query, weights: SearchWeights) {
    this.query = { ...query, terms: [...query.terms], pairs: [...query.pairs] };
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

  /** Returns the match of the first matching word in a short text, which is not normalized. */
  match(text: string): Match | null {
    for (const { word, stemmed } of formsOf(text)) {
      const known = this.words.get(word) ?? this.stems.get(stemmed);
      if (known !== undefined) return known;
      if (this.prefix !== null && word.startsWith(this.prefix.text)) return this.prefix.match;
    }
    return null;
  }

  addFuzzy(word: string, term: number): Match {
    const match = { term, weight: this.#weights.fuzzy };
    this.words.set(word, match);
    return match;
  }

  /**
   * Matches a word that spells a term together with others, as a phrase: "ERR-4711" for "ERR4711".
   * `before` is the match of the word before it, or null for the first, which matches the term.
   */
  addPart(word: string, term: number, before: Match | null): Match {
    const known = this.words.get(word);
    const isExact = known?.weight === 1;
    const match = isExact ? known : { term: this.#termOf(word, term, before), weight: 1 };
    this.words.set(word, match);
    if (before !== null) this.#addPhrase(before.term, match.term);
    return match;
  }

  #termOf(part: string, term: number, before: Match | null): number {
    const { terms } = this.query;
    if (before === null || terms.length === maxTerms) return term;
    return terms.push({ text: part, isNgram: false }) - 1;
  }

  #addPhrase(left: number, right: number): void {
    const { pairs } = this.query;
    const isKnown = pairs.some((one) => one.isPhrase && one.left === left && one.right === right);
    if (left !== right && !isKnown) pairs.push({ left, right, isPhrase: true });
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

type Form = { word: string; stemmed: string };

/**
 * A cache of normalized words and their stems. Texts repeat the same words, and normalizing and
 * stemming a word takes ten times as long as a lookup.
 */
const knownForms = new Map<string, readonly Form[]>();
const maxKnownForms = 10_000;
/** Longer texts are not cached: they are hashes and encoded data, not words. */
const maxKnownLength = 32; // mutate-ignore constant: affects only what is cached

function formsOf(text: string): readonly Form[] {
  const known = knownForms.get(text);
  if (known !== undefined) return known;
  // A part of a string keeps the whole string in memory.
  const copy = Buffer.from(text).toString();
  const words = normalizeWords(withParts(copy)).split(' ').filter(Boolean);
  const forms = words.map((word) => ({ word, stemmed: stem(word) }));
  if (knownForms.size === maxKnownForms) knownForms.clear();
  if (copy.length <= maxKnownLength) knownForms.set(copy, forms);
  return forms;
}

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
