/** How much each signal counts. Measured by `tests/eval`; docs/search.md has the figures. */
export type SearchWeights = {
  /** BM25: how slowly repetition saturates, and how strongly a chunk's length counts against it. */
  k1: number;
  /** Of a turn of a conversation, in which a long one says more, and of other text. */
  turnB: number;
  textB: number;
  /** Another form of the word, and a synonym of it. */
  inflection: number;
  synonym: number;
  /** The word with other accents than the query has; one without accents matches all of them. */
  otherAccents: number;
  /** A word that begins with the last, unfinished one; and one within a typo of a missing term. */
  prefix: number;
  fuzzy: number;
  /** A speaker who is named in the query; full for a long chunk, less near `speakerWords` words. */
  speaker: number;
  speakerWords: number;
  /** Two words of a quotation or a code that are adjacent here too. */
  phrase: number;
  /** What previous chunks add; it fades over so many words. */
  previous: number;
  previousReach: number;
  /** How much of both chunks' own lengths counts as distance. */
  span: number;
  /** The factor between neighbours that are not both turns of a conversation. */
  withoutSpeaker: number;
};

export const searchWeights: SearchWeights = {
  k1: 1.2,
  turnB: 0.1,
  textB: 0.75,
  inflection: 1,
  synonym: 0.25,
  otherAccents: 0.2,
  prefix: 0.3,
  fuzzy: 0.6,
  speaker: 2,
  speakerWords: 8,
  phrase: 2,
  previous: 0.9,
  previousReach: 60,
  span: 0.15,
  withoutSpeaker: 0.5,
};
