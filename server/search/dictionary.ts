import { Uint32List } from './lists.ts';
import { stem } from './stem.ts';
import { letterMask } from './typo.ts';

/** No word: a place that nothing matches. */
export const noWord = 0;

/**
 * The distinct words of one user's chunks, numbered from 1, in typed arrays: a Map of strings takes
 * four times the memory and twice the time, and its keys would keep the texts they were cut from.
 * A word that no chunk holds any more keeps its number until the index is compacted.
 */
export class Dictionary {
  /** For each word: how many tokens are this word, and which letters it has. */
  readonly counts = new Uint32List();
  readonly letters = new Uint32List();
  /** The words' UTF-16 units, end to end; word n is from `starts[n]` to `starts[n + 1]`. */
  readonly starts = new Uint32List();
  units = new Uint16Array(64);
  readonly #hashes = new Uint32List();
  /** Words with one stem are a linked list whose head hangs on the stem. */
  readonly #stemOf = new Uint32List();
  readonly #firstOfStem = new Uint32List();
  readonly #nextOfStem = new Uint32List();
  readonly #columns = [this.counts, this.letters, this.#hashes].concat([
    this.#stemOf,
    this.#firstOfStem,
    this.#nextOfStem,
  ]);
  /** Open addressing with linear probing; 0 is a free place. */
  #table = new Uint32Array(32);
  readonly #seed: number;

  /** A secret `seed` keeps a client from choosing words that all hash alike. */
  constructor(seed: number) {
    this.#seed = seed;
    for (const column of [...this.#columns, this.starts]) column.push(0);
    this.starts.push(0);
  }

  /** One more than the last word's number. */
  get size(): number {
    return this.counts.length;
  }

  get bytes(): number {
    const columns = [...this.#columns, this.starts].reduce((sum, { bytes }) => sum + bytes, 0);
    return columns + this.units.byteLength + this.#table.byteLength;
  }

  textOf(word: number): string {
    return String.fromCharCode(
      ...this.units.subarray(this.starts.at(word), this.starts.at(word + 1)),
    );
  }

  /** Interns a word of this dictionary in another. */
  copyWord(word: number, into: Dictionary): number {
    const text = this.textOf(word);
    return into.intern(text, 0, text.length);
  }

  lengthOf(word: number): number {
    return this.starts.at(word + 1) - this.starts.at(word);
  }

  startsWith(word: number, text: string): boolean {
    const first = this.starts.at(word);
    if (this.starts.at(word + 1) - first < text.length) return false;
    for (let at = 0; at < text.length; at += 1) {
      if (this.units[first + at] !== text.charCodeAt(at)) return false;
    }
    return true;
  }

  /** Whether the word stands in a text at a place. */
  isPartOf(text: string, start: number, word: number): boolean {
    return (
      start + this.lengthOf(word) <= text.length &&
      this.#isWord(word, text, start, start + this.lengthOf(word))
    );
  }

  /** The number of a word, or `noWord` if no chunk holds it. */
  find(text: string): number {
    const word = this.#table[this.#placeOf(text, 0, text.length, this.#hash(text, 0, text.length))];
    return word !== undefined && this.counts.at(word) > 0 ? word : noWord;
  }

  /** Counts one more token of the word from `start` to `end` in a text, and returns its number. */
  intern(text: string, start: number, end: number): number {
    const word = this.#numberOf(text, start, end);
    const counts = this.counts.values;
    const count = counts[word] ?? 0;
    counts[word] = count + 1;
    if (count === 0 && this.#stemOf.at(word) === noWord)
      this.#linkStem(word, text.slice(start, end));
    return word;
  }

  /** Counts one more token of a word that has been interned. */
  retain(word: number): void {
    this.counts.values[word] = this.counts.at(word) + 1;
  }

  /** Counts one token less. */
  release(word: number): void {
    if (word === noWord) return;
    const counts = this.counts.values;
    counts[word] = (counts[word] ?? 0) - 1;
  }

  /** The words with this stem that some chunk holds. */
  *wordsOfStem(text: string): Generator<number> {
    const root = this.#table[this.#placeOf(text, 0, text.length, this.#hash(text, 0, text.length))];
    let word = this.#firstOfStem.at(root ?? noWord);
    for (; word !== noWord; word = this.#nextOfStem.at(word)) {
      if (this.counts.at(word) > 0) yield word;
    }
  }

  /** A new word gets a new number. */
  #numberOf(text: string, start: number, end: number): number {
    const hash = this.#hash(text, start, end);
    const place = this.#placeOf(text, start, end, hash);
    const known = this.#table[place] ?? noWord;
    return known === noWord ? this.#add(text, start, end, hash, place) : known;
  }

  #linkStem(word: number, text: string): void {
    const stemmed = stem(text);
    const root = stemmed === text ? word : this.#numberOf(stemmed, 0, stemmed.length);
    this.#stemOf.values[word] = root;
    this.#nextOfStem.values[word] = this.#firstOfStem.at(root);
    this.#firstOfStem.values[root] = word;
  }

  /** Where the word is in the table, or the free place where it belongs. */
  #placeOf(text: string, start: number, end: number, hash: number): number {
    const table = this.#table;
    const hashes = this.#hashes.values;
    const last = table.length - 1;
    for (let place = hash & last; ; place = (place + 1) & last) {
      const word = table[place] ?? noWord;
      if (word === noWord) return place;
      if (hashes[word] === hash && this.#isWord(word, text, start, end)) return place;
    }
  }

  #isWord(word: number, text: string, start: number, end: number): boolean {
    const { units } = this;
    const { values } = this.starts;
    let unit = values[word] ?? 0;
    if ((values[word + 1] ?? 0) - unit !== end - start) return false;
    for (let at = start; at < end; at += 1, unit += 1) {
      if (units[unit] !== text.charCodeAt(at)) return false;
    }
    return true;
  }

  #add(text: string, start: number, end: number, hash: number, place: number): number {
    const word = this.size;
    const first = this.starts.at(word);
    while (this.units.length < first + end - start) this.units = doubled(this.units);
    for (let at = start; at < end; at += 1) this.units[first + at - start] = text.charCodeAt(at);
    for (const column of this.#columns) column.push(0);
    this.starts.push(first + end - start);
    this.letters.values[word] = letterMask(this.units, first, first + end - start);
    this.#hashes.values[word] = hash;
    this.#table[place] = word;
    if (word * 2 > this.#table.length) this.#rehash();
    return word;
  }

  #rehash(): void {
    const table = new Uint32Array(this.#table.length * 2);
    const last = table.length - 1;
    for (let word = 1; word < this.size; word += 1) {
      let place = this.#hashes.at(word) & last;
      while (table[place] !== noWord) place = (place + 1) & last;
      table[place] = word;
    }
    this.#table = table;
  }

  /** FNV-1a over UTF-16 units, mixed at the end so that the low bits depend on all of them. */
  #hash(text: string, start: number, end: number): number {
    let hash = this.#seed ^ 0x811c9dc5;
    for (let at = start; at < end; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    return (hash ^ (hash >>> 13)) >>> 0;
  }
}

function doubled(units: Uint16Array): Uint16Array<ArrayBuffer> {
  const larger = new Uint16Array(units.length * 2);
  larger.set(units);
  return larger;
}
