import type { DayRange } from './calendar.ts';
import { datesIn } from './dates.ts';
import { normalizeWords } from './normalize.ts';
import { isUnspaced, ngramLength } from './scripts.ts';
import { asksForAnything, asksPast, asksPresent, asksState, asksYou, stopWords } from './words.ts';

/** A search term: a normalized word, or an n-gram of a script without spaces. */
type Term = { text: string; isNgram: boolean };

/** The indexes of two adjacent terms. A phrase pair was quoted or is part of a code. */
type Pair = { left: number; right: number; isPhrase: boolean };

export type Query = {
  terms: Term[];
  pairs: Pair[];
  /** The index of the last word if it may be unfinished, else -1. */
  prefix: number;
  dates: DayRange[];
  /** Whether it asks for nothing but these days: "yesterday", "what did we talk about in May?" */
  isDateAlone: boolean;
  /** Whether it asks for the words of an assistant: "what did you recommend?" */
  asksAssistant: boolean;
  /** Whether it asks for the present state: "where do I live?" */
  asksPresent: boolean;
};

/** The maximum number of distinct terms. Further terms of a long question are ignored. */
export const maxTerms = 48;

type Token = Term & { followsInPhrase: boolean };

/**
 * Parses a query. There are no operators. Quotes only join words into a phrase, as does punctuation
 * inside an identifier, a number, a URL or an email address. `nowMs` is the time of the query;
 * without it, dates are words like any other.
 */
export function parseQuery(text: string, nowMs?: number): Query {
  const { tokens, quoted } = tokenize(text);
  const content = tokens.filter((token) => quoted.has(token) || !stopWords.has(token.text));
  const query = build(tokens, new Set(content.length > 0 ? content : tokens));
  const last = tokens.at(-1);
  const unfinished = last !== undefined && !last.isNgram && /[\p{L}\p{N}\p{M}]$/u.test(text);
  query.prefix = unfinished ? query.terms.findIndex((term) => term.text === last.text) : -1;
  query.asksAssistant = asksYou.test(text);
  query.asksPresent = asksPresent.test(text) || (asksState.test(text) && !asksPast.test(text));
  if (nowMs === undefined) return query;
  const { dates, rest } = datesIn(text, nowMs);
  query.dates = dates;
  query.isDateAlone = dates.length > 0 && tokenize(rest).tokens.every(isFiller);
  return query;
}

function isFiller({ text }: Token): boolean {
  return stopWords.has(text) || asksForAnything.test(text);
}

/** `quoted` contains the tokens of quotations and codes, which keep their stop words. */
function tokenize(text: string): { tokens: Token[]; quoted: Set<Token> } {
  const tokens: Token[] = [];
  const quoted = new Set<Token>();
  const parts = text.split(/["“”„«»「」『』]/u);
  for (const [index, part] of parts.entries()) {
    // An unclosed quote is not a quotation: 5" is five inches.
    const isQuote = index % 2 === 1 && index < parts.length - 1;
    let isFirst = true;
    for (const piece of part.split(/\s+/u).filter(Boolean)) {
      const words = normalizeWords(piece).split(' ').filter(Boolean);
      const isPhrase = isQuote || (words.length > 1 && /[\d@/_.\\-]/.test(piece));
      for (const [at, word] of words.entries()) {
        const follows = isQuote ? !(isFirst && at === 0) : at > 0;
        const found = tokensOf(word, follows, isPhrase);
        tokens.push(...found);
        if (isPhrase) for (const token of found) quoted.add(token);
      }
      isFirst = false;
    }
  }
  return { tokens, quoted };
}

function tokensOf(text: string, follows: boolean, isPhrase: boolean): Token[] {
  if (!isUnspaced(text.charCodeAt(0))) {
    return [{ text, isNgram: false, followsInPhrase: follows && isPhrase }];
  }
  return ngramsOf(text).map((ngram, at) => {
    return { text: ngram, isNgram: true, followsInPhrase: at > 0 && isPhrase };
  });
}

/** A run shorter than an n-gram matches all n-grams that begin with it. */
function ngramsOf(run: string): string[] {
  const ngrams: string[] = [];
  for (let at = 0; at < run.length; at += 1) {
    const end = at + ngramLength(run.charCodeAt(at));
    if (at === 0 || end <= run.length) ngrams.push(run.slice(at, end));
  }
  return ngrams;
}

function build(all: Token[], kept: Set<Token>): Query {
  const query: Query = {
    ...{ terms: [], pairs: [], prefix: -1, dates: [] },
    ...{ isDateAlone: false, asksAssistant: false, asksPresent: false },
  };
  const indexes = new Map<string, number>();
  const paired = new Set<string>();
  let before = -1;
  for (const token of all) {
    const index = kept.has(token) ? addTerm(query, indexes, token) : -1;
    const pair = { left: before, right: index, isPhrase: token.followsInPhrase };
    const key = `${before} ${index} ${pair.isPhrase}`;
    if (before >= 0 && index >= 0 && before !== index && !paired.has(key)) {
      paired.add(key);
      query.pairs.push(pair);
    }
    before = index;
  }
  return query;
}

function addTerm({ terms }: Query, indexes: Map<string, number>, token: Token): number {
  const known = indexes.get(token.text);
  if (known !== undefined) return known;
  if (terms.length >= maxTerms) return -1;
  indexes.set(token.text, terms.length);
  return terms.push({ text: token.text, isNgram: token.isNgram }) - 1;
}
