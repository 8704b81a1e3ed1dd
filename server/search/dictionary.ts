import { type Column, Uint32List } from './columns.ts';
import { stem } from './stem.ts';
import { letterMask } from './typo.ts';
import { noWord, WordTable } from './word-table.ts';

/**
 * The words of one user's chunks. A word whose last chunk was removed keeps its number until the
 * index is compacted.
 */
export class Dictionary {
  /** The words, and the stems that do not occur as words. The count of such a stem is 0. */
  readonly words: WordTable;
  readonly counts = new Uint32List();
  readonly letters = new Uint32List();
  /** Words that have the same stem are in a linked list that starts at the stem. */
  readonly #stemOf = new Uint32List();
  readonly #firstOfStem = new Uint32List();
  readonly #nextOfStem = new Uint32List();

  constructor(seed: number) {
    this.words = new WordTable(seed);
    this.#addRow(0);
  }

  /** The number of words plus one, because word numbers start at 1. */
  get size(): number {
    return this.words.size;
  }

  get bytes(): number {
    const stems = this.#stemOf.bytes + this.#firstOfStem.bytes + this.#nextOfStem.bytes;
    return this.words.bytes + this.counts.bytes + this.letters.bytes + stems;
  }

  columns(): Column[] {
    const stems = [this.#stemOf, this.#firstOfStem, this.#nextOfStem];
    return [...this.words.columns(), this.counts, this.letters, ...stems];
  }

  /** Returns a word's number, or `noWord` if no chunk contains it. */
  find(text: string): number {
    const word = this.words.numberOf(text);
    return this.counts.at(word) > 0 ? word : noWord;
  }

  /** Counts an occurrence of the word from `start` to `end` in a text. Returns its number. */
  intern(text: string, start: number, end: number): number {
    const word = this.#numberOf(text, start, end);
    const counts = this.counts.values;
    const count = counts[word] ?? 0;
    counts[word] = count + 1;
    // mutate-ignore operand: a stem may be linked twice
    if (count === 0 && this.#stemOf.at(word) === noWord) {
      this.#linkStem(word, text.slice(start, end));
    }
    return word;
  }

  retain(word: number): void {
    this.counts.values[word] = this.counts.at(word) + 1;
  }

  release(word: number): void {
    if (word !== noWord) this.counts.values[word] = this.counts.at(word) - 1;
  }

  /** Yields the words with this stem that occur in a chunk. */
  *wordsOfStem(text: string): Generator<number> {
    let word = this.#firstOfStem.at(this.words.numberOf(text));
    for (; word !== noWord; word = this.#nextOfStem.at(word)) {
      if (this.counts.at(word) > 0) yield word;
    }
  }

  #numberOf(text: string, start: number, end: number): number {
    const word = this.words.add(text, start, end);
    if (word === this.counts.length) {
      const { units, starts } = this.words;
      this.#addRow(letterMask(units, starts.at(word), starts.at(word + 1)));
    }
    return word;
  }

  #addRow(letters: number): void {
    this.counts.push(0);
    this.letters.push(letters);
    this.#stemOf.push(noWord);
    this.#firstOfStem.push(noWord);
    this.#nextOfStem.push(noWord);
  }

  #linkStem(word: number, text: string): void {
    const stemmed = stem(text);
    const root = stemmed === text ? word : this.#numberOf(stemmed, 0, stemmed.length);
    this.#stemOf.values[word] = root;
    this.#nextOfStem.values[word] = this.#firstOfStem.at(root);
    this.#firstOfStem.values[root] = word;
  }
}
