import type { Query, Term } from './query.ts';
import { stem } from './stem.ts';
import type { SearchWeights } from './weights.ts';
import { irregularForms, synonyms } from './words.ts';

/** That a word matches a term of the query, and how well: 1 is the very word. */
export type Match = { term: number; weight: number };

const stemsOfForms = byStem(irregularForms, () => []);
const stemsOfSynonyms = byStem(synonyms, formStems);

/** Decides which words match which term of a query. The first match of a word or stem holds. */
export class Matcher {
  readonly query: Query;
  readonly words = new Map<string, Match>();
  readonly stems = new Map<string, Match>();
  readonly bigrams = new Map<string, Match>();
  /** What the words match that begin with the unfinished last word. */
  readonly prefix: { text: string; match: Match } | null;
  readonly #weights: SearchWeights;

  constructor(query: Query, weights: SearchWeights) {
    this.query = query;
    this.#weights = weights;
    for (const [index, term] of query.terms.entries()) this.#addTerm(index, term);
    for (const [index, term] of query.terms.entries()) {
      if (!term.isBigram && weights.synonym > 0) this.#addSynonyms(index, term);
    }
    for (const { left, right } of query.pairs) this.#addJoined(left, right);
    const last = query.terms[query.prefix];
    const match = { term: query.prefix, weight: weights.prefix };
    this.prefix = last === undefined ? null : { text: last.text, match };
  }

  /** The match of a normalized word, or null. */
  match(word: string): Match | null {
    const known = this.words.get(word) ?? this.stems.get(stem(word));
    if (known !== undefined) return known;
    return this.prefix !== null && word.startsWith(this.prefix.text) ? this.prefix.match : null;
  }

  /** The match of one or two units of a script without spaces, or null. */
  matchBigram(text: string): Match | null {
    return this.bigrams.get(text) ?? null;
  }

  /** Lets a misspelt or split word match a term that no chunk holds. */
  addFuzzy(word: string, term: number): Match {
    const match = { term, weight: this.#weights.fuzzy };
    this.words.set(word, match);
    return match;
  }

  #addTerm(index: number, { text, isBigram }: Term): void {
    (isBigram ? this.bigrams : this.words).set(text, { term: index, weight: 1 });
    if (isBigram) return;
    this.#addStems([stem(text), ...formStems(text)], index, this.#weights.inflection);
  }

  #addSynonyms(index: number, { text }: Term): void {
    for (const form of [stem(text), ...formStems(text)]) {
      this.#addStems(stemsOfSynonyms.get(form) ?? [], index, this.#weights.synonym);
    }
  }

  #addStems(stems: readonly string[], term: number, weight: number): void {
    for (const one of stems) if (!this.stems.has(one)) this.stems.set(one, { term, weight });
  }

  /** "ERR-4711" also matches "ERR4711", and "note book" matches "notebook". */
  #addJoined(left: number, right: number): void {
    const first = this.query.terms[left];
    const second = this.query.terms[right];
    if (first === undefined || second === undefined || first.isBigram || second.isBigram) return;
    const joined = first.text + second.text;
    if (!this.words.has(joined)) this.words.set(joined, { term: left, weight: 1 });
  }
}

/** The stems of the word's irregular forms. */
function formStems(word: string): readonly string[] {
  return stemsOfForms.get(stem(word)) ?? [];
}

/** Groups of words as groups of stems, each with `more` of its members. */
function byStem(
  groups: ReadonlyMap<string, readonly string[]>,
  more: (word: string) => readonly string[],
): Map<string, readonly string[]> {
  const stems = new Map<string, readonly string[]>();
  for (const [word, group] of groups) {
    const known = stems.get(stem(word)) ?? [];
    const members = group.flatMap((member) => [stem(member), ...more(member)]);
    stems.set(stem(word), [...new Set([...known, ...members])]);
  }
  return stems;
}
