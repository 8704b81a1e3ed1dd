import { noWord, WordTable } from '../search/word-table.ts';

/**
 * The token ids of a text, with [CLS] first and [SEP] last, and how many are [UNK]; the number of
 * words without punctuation marks, and how many of these are one token.
 */
export type Tokens = { ids: number[]; unknown: number; words: number; known: number };

const longestWord = 100;
/** Begins a token that is not the beginning of a word. */
const inner = '##';
/** The length of the model's input. */
export const maxTokens = 256;
const ignored = /^[\0\ufffd]|^(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}]/u;
const space = /^[\t\n\r]|^\p{Z}/u;
const mark = /^\p{Mn}/u;
const asciiPunctuation = /^[!-/:-@[-`{-~]/;
const punctuation = /^\p{P}/u;
const ideograph =
  /^[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/u;

/**
 * BERT's uncased tokenizer: words without accents and case, split at punctuation, then into the
 * longest known pieces. Unlike the reference, it reads "[SEP]" and the like in a text as text.
 */
export class WordPiece {
  /** Token n of the vocabulary is word n + 1 of the table. */
  readonly #vocabulary = new WordTable(0);
  readonly #cls: number;
  readonly #sep: number;
  readonly #unk: number;

  /** `vocabulary` is the content of vocab.txt: a token a line, in the order of the ids. */
  constructor(vocabulary: string) {
    for (const token of vocabulary.split('\n')) if (token !== '') this.#vocabulary.add(token);
    this.#cls = this.idOf('[CLS]');
    this.#sep = this.idOf('[SEP]');
    this.#unk = this.idOf('[UNK]');
  }

  /** Returns at most `maxTokens` ids; the end of a longer text is left out. */
  encode(text: string): Tokens {
    const ids = [this.#cls];
    let [words, known] = [0, 0];
    for (const word of wordsOf(text)) {
      const pieces = this.#longestPieces(word);
      if (!isPunctuation(word)) {
        words += 1;
        if (pieces?.length === 1) known += 1;
      }
      ids.push(...(pieces ?? [this.#unk]));
      if (ids.length >= maxTokens) break;
    }
    ids.length = Math.min(ids.length, maxTokens - 1);
    const unknown = ids.filter((id) => id === this.#unk).length;
    ids.push(this.#sep);
    return { ids, unknown, words, known };
  }

  #longestPieces(word: string): number[] | null {
    if ([...word].length > longestWord) return null;
    const ids: number[] = [];
    let [rest, least] = [word, 1];
    while (rest.length >= least) {
      let end = rest.length;
      while (end >= least && this.#vocabulary.numberOf(rest, 0, end) === noWord) end -= 1;
      if (end < least) return null;
      ids.push(this.#vocabulary.numberOf(rest, 0, end) - 1);
      rest = inner + rest.slice(end);
      least = inner.length + 1;
    }
    return ids;
  }

  idOf(token: string): number {
    const word = this.#vocabulary.numberOf(token);
    if (word === noWord) throw new Error(`the vocabulary lacks ${token}`);
    return word - 1;
  }
}

/** Yields normalized words; each punctuation mark and each ideograph is a word. */
function* wordsOf(text: string): Generator<string> {
  let word = '';
  for (const character of text) {
    const isIdeograph = ideograph.test(character);
    if (isIdeograph || space.test(character)) {
      if (word !== '') yield* splitAtPunctuation(word);
      word = '';
      if (isIdeograph) yield character.normalize('NFD');
    } else if (!ignored.test(character)) {
      word += character;
    }
  }
  if (word !== '') yield* splitAtPunctuation(word);
}

function* splitAtPunctuation(raw: string): Generator<string> {
  let word = '';
  for (const character of raw.normalize('NFD')) {
    if (mark.test(character)) continue;
    if (isPunctuation(character)) {
      if (word !== '') yield word;
      word = '';
      yield character;
    } else {
      // By character, as the reference does: a final sigma is not treated specially.
      word += character.toLowerCase();
    }
  }
  if (word !== '') yield word;
}

function isPunctuation(word: string): boolean {
  return asciiPunctuation.test(word) || punctuation.test(word);
}
