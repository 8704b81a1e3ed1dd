import { Dictionary } from './dictionary.ts';
import { Uint32List } from './lists.ts';
import type { ChunkRange } from './memory-table.ts';
import { tokenize, withWord, wordOf } from './tokenizer.ts';
import { noWord } from './word-table.ts';

/** A chunk of a memory: its position in the content, and its normalized text. */
export type IndexedChunk = { start: number; length: number; text: string };

/** Chunks in order of insertion. Removed chunks stay until the table is compacted. */
export class ChunkTable {
  readonly dictionary: Dictionary;
  readonly tokens = new Uint32List();
  /** The offset of each chunk's first token, followed by the total number of tokens. */
  readonly firstTokens = new Uint32List();
  readonly starts = new Uint32List();
  readonly lengths = new Uint32List();
  readonly labelled = new Uint32List();
  /** The number of tokens in chunks that have not been removed. */
  liveTokens = 0;

  constructor(seed: number) {
    this.dictionary = new Dictionary(seed);
    this.firstTokens.push(0);
  }

  get bytes(): number {
    const columns = [this.tokens, this.firstTokens, this.starts, this.lengths, this.labelled];
    return columns.reduce((sum, { bytes }) => sum + bytes, this.dictionary.bytes);
  }

  get length(): number {
    return this.starts.length;
  }

  add({ start, length, text }: IndexedChunk): void {
    const isLabelled = tokenize(text, this.dictionary, this.tokens);
    this.#finish(start, length, isLabelled ? 1 : 0);
  }

  /** Removes the words of deleted chunks from the dictionary's counts. */
  release({ first, count }: ChunkRange): void {
    const end = this.firstTokens.at(first + count);
    for (let at = this.firstTokens.at(first); at < end; at += 1) {
      this.dictionary.release(wordOf(this.tokens.at(at)));
    }
    this.liveTokens -= end - this.firstTokens.at(first);
  }

  /** Returns a function that appends a chunk of this table to another table. */
  copier(into: ChunkTable): (chunk: number) => void {
    const words = new Uint32Array(this.dictionary.size);
    return (chunk) => {
      for (let at = this.firstTokens.at(chunk); at < this.firstTokens.at(chunk + 1); at += 1) {
        const token = this.tokens.at(at);
        const word = wordOf(token);
        const known = words[word] ?? noWord;
        if (known !== noWord) into.dictionary.retain(known);
        else if (word !== noWord) words[word] = this.#copyWord(word, into);
        into.tokens.push(withWord(token, words[word] ?? noWord));
      }
      into.#finish(this.starts.at(chunk), this.lengths.at(chunk), this.labelled.at(chunk));
    };
  }

  #copyWord(word: number, into: ChunkTable): number {
    const text = this.dictionary.words.textOf(word);
    return into.dictionary.intern(text, 0, text.length);
  }

  #finish(start: number, length: number, isLabelled: number): void {
    this.liveTokens += this.tokens.length - this.firstTokens.at(this.length);
    this.firstTokens.push(this.tokens.length);
    this.starts.push(start);
    this.lengths.push(length);
    this.labelled.push(isLabelled);
  }
}
