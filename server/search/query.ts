import { fold, isUnspaced } from './analyse.ts';
import { stopWords } from './words.ts';

/** One thing to look for: a folded word, or one or two letters of an unspaced script. */
export type Term = {
  text: string;
  /** A gram is looked for inside runs, a word among words. */
  gram: boolean;
  /** Of what it is worth when found; a repeated word counts more. */
  weight: number;
};

export type Query = {
  terms: Term[];
  /** Terms that were written side by side, by index; what was quoted or one code is `tight`. */
  pairs: { left: number; right: number; tight: boolean }[];
  /** The index of a word that may not be written out yet, or -1. */
  open: number;
};

/** A question can be long; past these many different words more would only cost time. */
const maxTerms = 48;

type Token = { text: string; gram: boolean; bound: boolean; tight: boolean };

/**
 * Reads what somebody typed. Nothing in it is an operator: quotes only bind the words inside, and
 * so do the marks inside a code, a number, a URL or a mail address.
 */
export function parseQuery(text: string): Query {
  const tokens = tokenise(text);
  const content = tokens.filter((token) => token.tight || !stopWords.has(token.text));
  const query = build(tokens, content.length > 0 ? content : tokens);
  const last = tokens.at(-1);
  const unfinished = last !== undefined && !last.gram && /[\p{L}\p{N}\p{M}]$/u.test(text);
  query.open = unfinished ? query.terms.findIndex((term) => term.text === last.text) : -1;
  return query;
}

function tokenise(text: string): Token[] {
  const tokens: Token[] = [];
  const parts = text.split(/["“”„«»「」『』]/u);
  for (const [index, part] of parts.entries()) {
    // A quote that is never closed binds nothing: 5" is five inches.
    const quoted = index % 2 === 1 && index < parts.length - 1;
    for (const [chunkIndex, chunk] of part.split(/\s+/u).filter(Boolean).entries()) {
      const words = fold(chunk).split(' ').filter(Boolean);
      const code = words.length > 1 && /[\d@/_.\\-]/.test(chunk);
      for (const [at, word] of words.entries()) {
        const bound = quoted ? chunkIndex + at > 0 : at > 0;
        pushWord(tokens, word, { bound, tight: quoted || code });
      }
    }
  }
  return tokens;
}

function pushWord(tokens: Token[], word: string, how: { bound: boolean; tight: boolean }): void {
  if (!isUnspaced(word.charCodeAt(0))) {
    tokens.push({ text: word, gram: false, ...how });
    return;
  }
  const last = Math.max(1, word.length - 1);
  for (let at = 0; at < last; at += 1) {
    tokens.push({ text: word.slice(at, at + 2), gram: true, bound: at > 0, tight: how.tight });
  }
}

function build(all: Token[], kept: Token[]): Query {
  const query: Query = { terms: [], pairs: [], open: -1 };
  const indexes = new Map<string, number>();
  let before = -1;
  for (const token of all) {
    if (!kept.includes(token)) {
      before = -1;
      continue;
    }
    const index = addTerm(query, indexes, token);
    if (before >= 0 && index >= 0 && before !== index) {
      query.pairs.push({ left: before, right: index, tight: token.bound && token.tight });
    }
    before = index;
  }
  return query;
}

function addTerm(query: Query, indexes: Map<string, number>, token: Token): number {
  const known = indexes.get(token.text);
  if (known !== undefined) return known;
  if (query.terms.length >= maxTerms) return -1;
  indexes.set(token.text, query.terms.length);
  query.terms.push({ text: token.text, gram: token.gram, weight: 1 });
  return query.terms.length - 1;
}
