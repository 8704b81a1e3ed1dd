import { type Column, Uint32List } from './columns.ts';
import { Dictionary } from './dictionary.ts';
import type { ChunkRange } from './memory-table.ts';
import { tokenize, withWord, wordOf } from './tokenizer.ts';
import { noWord } from './word-table.ts';

/**
 * A chunk of a memory: its position in the content, its normalized text, the sender of its message
 * if it is part of a chat with a language model, the day of what it says, if that is known, and
 * whether it is part of a conversation, whose labels certainly name speakers.
 */
export type IndexedChunk = {
  start: number;
  length: number;
  text: string;
  sender?: 'user' | 'model' | null;
  day?: number | null;
  isConversation?: boolean;
};

/** Flags of a chunk. It has a label, which in a timeline names a speaker. */
export const isTurn = 1;
/** It is part of a chat with a language model, and of a message that the model sent. */
export const isMessage = 2;
export const isReply = 4;
/** It is part of a text that is a conversation. */
export const inConversation = 8;

/** Added to stored days, because a day before 1970 is negative. A chunk without a day has 0. */
export const dayOffset = 200_000_000;

/** Chunks in order of insertion. Removed chunks stay until the table is compacted. */
export class ChunkTable {
  readonly dictionary: Dictionary;
  readonly tokens = new Uint32List();
  /** The offset of each chunk's first token, followed by the total number of tokens. */
  readonly firstTokens = new Uint32List();
  readonly starts = new Uint32List();
  readonly lengths = new Uint32List();
  readonly flags = new Uint32List();
  readonly days = new Uint32List();
  /** The number of tokens in chunks that have not been removed. */
  liveTokens = 0;

  constructor(seed: number) {
    this.dictionary = new Dictionary(seed);
    this.firstTokens.push(0);
  }

  get bytes(): number {
    const { tokens, firstTokens, starts, lengths, flags, days } = this;
    const columns = [tokens, firstTokens, starts, lengths, flags, days];
    return columns.reduce((sum, { bytes }) => sum + bytes, this.dictionary.bytes);
  }

  /** The columns of a table from which nothing has been removed. */
  columns(): Column[] {
    const tokens: Column = {
      toBytes: () => this.tokens.toBytes(),
      fill: (bytes) => {
        this.tokens.fill(bytes);
        this.liveTokens = this.tokens.length;
      },
    };
    const { firstTokens, starts, lengths, flags, days } = this;
    return [tokens, firstTokens, starts, lengths, flags, days, ...this.dictionary.columns()];
  }

  get length(): number {
    return this.starts.length;
  }

  add({ start, length, text, sender = null, day = null, isConversation }: IndexedChunk): void {
    const isLabelled = tokenize(text, this.dictionary, this.tokens);
    this.starts.push(start);
    this.lengths.push(length);
    const ofLabels = (isLabelled ? isTurn : 0) | (isConversation ? inConversation : 0);
    this.flags.push(ofLabels | flagsOf(sender));
    this.days.push(day === null ? 0 : day + dayOffset);
    this.#finish();
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
      for (const column of ['starts', 'lengths', 'flags', 'days'] as const) {
        into[column].push(this[column].at(chunk));
      }
      into.#finish();
    };
  }

  #copyWord(word: number, into: ChunkTable): number {
    const text = this.dictionary.words.textOf(word);
    return into.dictionary.intern(text, 0, text.length);
  }

  #finish(): void {
    this.liveTokens += this.tokens.length - this.firstTokens.at(this.length - 1);
    this.firstTokens.push(this.tokens.length);
  }
}

function flagsOf(sender: IndexedChunk['sender']): number {
  if (sender === null) return 0;
  return sender === 'model' ? isMessage | isReply : isMessage;
}
