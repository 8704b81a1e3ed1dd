import { bytesOf, type Column, Uint32List, withRoom } from './columns.ts';

/** The number that stands for no word. It matches nothing. */
export const noWord = 0;

const minSlots = 32;
const minUnits = 64;

/**
 * Distinct words, numbered from 1. A Map of strings would need four times the memory and twice the
 * time, and its keys would retain the strings that they were sliced from.
 */
export class WordTable {
  /** The UTF-16 units of all words; word n is at `starts[n]` to `starts[n + 1]`. */
  units = new Uint16Array(minUnits);
  readonly starts = new Uint32List();
  readonly #hashes = new Uint32List();
  /** A hash table of word numbers with linear probing; 0 is a free slot. */
  #slots = new Uint32Array(minSlots);
  readonly #seed: number;

  /** A secret `seed` prevents clients from choosing words that collide. */
  constructor(seed: number) {
    this.#seed = seed;
    this.#hashes.push(0);
    this.starts.push(0);
    this.starts.push(0);
  }

  get size(): number {
    return this.#hashes.length;
  }

  get bytes(): number {
    const { units, starts } = this;
    return units.byteLength + starts.bytes + this.#hashes.bytes + this.#slots.byteLength;
  }

  columns(): Column[] {
    const units: Column = {
      toBytes: () => bytesOf(this.units.subarray(0, this.starts.at(this.size))),
      fill: (bytes) => {
        this.units.buffer.transfer(0);
        this.units = new Uint16Array(withRoom(bytes));
      },
    };
    const hashes: Column = {
      toBytes: () => this.#hashes.toBytes(),
      fill: (bytes) => {
        this.#hashes.fill(bytes);
        let slots = minSlots;
        while (this.size * 2 > slots) slots *= 2;
        this.#fillSlots(slots);
      },
    };
    return [units, this.starts, hashes];
  }

  textOf(word: number): string {
    const units = this.units.subarray(this.starts.at(word), this.starts.at(word + 1));
    return String.fromCharCode(...units);
  }

  lengthOf(word: number): number {
    return this.starts.at(word + 1) - this.starts.at(word);
  }

  /** Returns the number of the word from `start` to `end` in a text, or `noWord`. */
  numberOf(text: string, start = 0, end = text.length): number {
    return this.#slots[this.#slotOf(text, start, end, this.#hash(text, start, end))] ?? noWord;
  }

  /** Like `numberOf`, but assigns a number to a new word. */
  add(text: string, start = 0, end = text.length): number {
    const hash = this.#hash(text, start, end);
    const slot = this.#slotOf(text, start, end, hash);
    const known = this.#slots[slot] ?? noWord;
    if (known !== noWord) return known;
    const word = this.size;
    this.#slots[slot] = word;
    this.#hashes.push(hash);
    this.#addUnits(text, start, end);
    if (word * 2 > this.#slots.length) this.#fillSlots(this.#slots.length * 2);
    return word;
  }

  isAt(word: number, text: string, start: number, end: number): boolean {
    const { units } = this;
    const starts = this.starts.values;
    let unit = starts[word] ?? 0;
    if ((starts[word + 1] ?? 0) - unit !== end - start) return false;
    for (let at = start; at < end; at += 1, unit += 1) {
      if (units[unit] !== text.charCodeAt(at)) return false;
    }
    return true;
  }

  startsWith(word: number, text: string): boolean {
    if (this.lengthOf(word) < text.length) return false;
    const first = this.starts.at(word);
    for (let at = 0; at < text.length; at += 1) {
      if (this.units[first + at] !== text.charCodeAt(at)) return false;
    }
    return true;
  }

  /** Returns the word's slot in the hash table, or the free slot for a new word. */
  #slotOf(text: string, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const hashes = this.#hashes.values;
    const last = slots.length - 1;
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const word = slots[slot] ?? noWord;
      if (word === noWord) return slot;
      if (hashes[word] === hash && this.isAt(word, text, start, end)) return slot;
    }
  }

  #addUnits(text: string, start: number, end: number): void {
    const first = this.starts.at(this.starts.length - 1);
    while (this.units.length < first + end - start) {
      const units = new Uint16Array(Math.max(minUnits, this.units.length * 2));
      units.set(this.units);
      this.units = units;
    }
    for (let at = start; at < end; at += 1) this.units[first + at - start] = text.charCodeAt(at);
    this.starts.push(first + end - start);
  }

  #fillSlots(length: number): void {
    const slots = new Uint32Array(length);
    const last = slots.length - 1;
    for (let word = 1; word < this.size; word += 1) {
      let slot = this.#hashes.at(word) & last;
      while (slots[slot] !== noWord) slot = (slot + 1) & last;
      slots[slot] = word;
    }
    this.#slots = slots;
  }

  /** FNV-1a over UTF-16 units. The final mixing makes the low bits depend on all bits. */
  #hash(text: string, start: number, end: number): number {
    let hash = this.#seed ^ 0x811c9dc5; // mutate-ignore constant: the seed is random
    for (let at = start; at < end; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    return (hash ^ (hash >>> 13)) >>> 0;
  }
}
