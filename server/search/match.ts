import { isUnspaced } from './analyse.ts';
import type { Query, Term } from './query.ts';
import { stem } from './stem.ts';
import type { SearchWeights } from './weights.ts';
import { forms, kin } from './words.ts';

/** That a word of a passage answers a term of the query, and how well: 1 is the very word. */
export type Verdict = { term: number; weight: number };

const space = 32;
const formStems = byStem(forms, () => []);
const kinStems = byStem(kin, stemsOf);

/**
 * Decides which words answer which term. Most words of a passage are turned away by their first
 * two letters, which no stemming changes; the others are judged once each.
 */
export class Matcher {
  readonly query: Query;
  /** 1 where a word that starts with two units, or a run that holds one, is worth judging. */
  readonly heads = new Uint8Array(65_536);
  readonly #weights: SearchWeights;
  readonly #verdicts = new Map<string, Verdict | null>();
  readonly #stems = new Map<string, Verdict>();
  readonly #grams = new Map<string, Verdict>();

  constructor(query: Query, weights: SearchWeights) {
    this.query = query;
    this.#weights = weights;
    for (const [index, term] of query.terms.entries()) this.#admit(index, term);
    for (const [index, term] of query.terms.entries()) if (!term.gram) this.#admitKin(index, term);
    for (const { left, right } of query.pairs) this.#admitJoined(left, right);
    this.#openHead();
  }

  /** What the folded word answers, or null. */
  judge(word: string): Verdict | null {
    const known = this.#verdicts.get(word);
    if (known !== undefined) return known;
    const verdict = this.#stems.get(stem(word)) ?? this.#judgeOpen(word);
    this.#verdicts.set(word, verdict);
    return verdict;
  }

  /** What one or two letters of an unspaced script answer, or null. */
  judgeGram(gram: string): Verdict | null {
    return this.#grams.get(gram) ?? null;
  }

  /** Lets one more word answer a term, as well as a word that is close can. */
  admitClose(word: string, term: number): void {
    this.#verdicts.set(word, { term, weight: this.#weights.close });
    this.#addHead(word);
  }

  #admit(index: number, term: Term): void {
    this.#addHead(term.text);
    if (term.gram) {
      this.#grams.set(term.text, { term: index, weight: 1 });
      return;
    }
    this.#verdicts.set(term.text, { term: index, weight: 1 });
    for (const formStem of [stem(term.text), ...stemsOf(term.text)]) {
      this.#addStem(formStem, { term: index, weight: this.#weights.form });
    }
  }

  #admitKin(index: number, term: Term): void {
    if (this.#weights.kin === 0) return;
    for (const form of [stem(term.text), ...stemsOf(term.text)]) {
      for (const kinStem of kinStems.get(form) ?? []) {
        this.#addStem(kinStem, { term: index, weight: this.#weights.kin });
      }
    }
  }

  /** "ERR-4711" also finds "ERR4711", and "note book" finds "notebook". */
  #admitJoined(left: number, right: number): void {
    const first = this.query.terms[left];
    const second = this.query.terms[right];
    if (first === undefined || second === undefined || first.gram || second.gram) return;
    const joined = first.text + second.text;
    if (this.#verdicts.has(joined)) return;
    this.#verdicts.set(joined, { term: left, weight: 1 });
    this.#addHead(joined);
  }

  #addStem(stemmed: string, verdict: Verdict): void {
    if (this.#stems.has(stemmed)) return;
    this.#stems.set(stemmed, verdict);
    this.#addHead(stemmed);
  }

  #openHead(): void {
    const open = this.query.terms[this.query.open];
    // One letter leaves the second unit unknown.
    if (open?.text.length === 1) this.heads.fill(1);
  }

  #judgeOpen(word: string): Verdict | null {
    const open = this.query.terms[this.query.open];
    if (open === undefined || !word.startsWith(open.text)) return null;
    return { term: this.query.open, weight: this.#weights.open };
  }

  #addHead(word: string): void {
    const first = word.charCodeAt(0);
    const second = word.length > 1 ? word.charCodeAt(1) : space;
    this.heads[headOf(first, second)] = 1;
    // A gram may stand at any place of a run, so that only its first unit is known to the scan.
    if (isUnspaced(first)) this.heads[headOf(first, space)] = 1;
  }
}

/** The place in `heads` of a word that starts with these two units. */
export function headOf(first: number, second: number): number {
  return ((first << 8) ^ second) & 0xffff;
}

/** The stems of the word's irregular forms. */
function stemsOf(word: string): readonly string[] {
  return formStems.get(stem(word)) ?? [];
}

/** Groups of words as groups of stems, with `more` of each; worked out once, not per search. */
function byStem(
  map: ReadonlyMap<string, readonly string[]>,
  more: (word: string) => readonly string[],
): Map<string, readonly string[]> {
  const stems = new Map<string, readonly string[]>();
  for (const [word, group] of map) {
    const known = stems.get(stem(word)) ?? [];
    const members = group.flatMap((member) => [stem(member), ...more(member)]);
    stems.set(stem(word), [...new Set([...known, ...members])]);
  }
  return stems;
}
