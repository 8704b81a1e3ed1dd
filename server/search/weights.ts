/** The weight of each signal, tuned with `tests/eval`. The figures are in docs/search.md. */
export type SearchWeights = {
  /** BM25's k1: how slowly the repetition of a term saturates. */
  k1: number;
  /**
   * BM25's b, the effect of a chunk's length: `turnB` for turns of a conversation, in which longer
   * turns have more content, `messageB` for messages of a chat with a language model, and `textB`
   * for all other text.
   */
  turnB: number;
  messageB: number;
  textB: number;
  /** Another form of the word, and a synonym. */
  inflection: number;
  synonym: number;
  /** The word with accents that differ from the query's. */
  otherAccents: number;
  /** A word that begins with the unfinished last word, and a fuzzy match of a missing term. */
  prefix: number;
  fuzzy: number;
  /** A speaker named in the query. A chunk of `speakerWords` words gets half of this weight. */
  speaker: number;
  speakerWords: number;
  /** Two words of a quotation or a code that are also adjacent in the chunk. */
  phrase: number;
  /** The boost from previous chunks, and the distance in words over which it decreases. */
  previous: number;
  previousReach: number;
  /** The share of both chunks' lengths that counts as distance. */
  span: number;
  /** The factor for a boost between neighbours that are not both turns of a conversation. */
  withoutSpeaker: number;
  /** The factor for a language model's reply: replies are long and contain many words. */
  reply: number;
  /** The boost of a reply from the message that it answers. */
  asked: number;
  /** The share of the meaning in a score, if the question has a vector; the rest is the words'. */
  meaning: number;
  /** The share of the previous turn's vector that is added to a turn's. */
  previousMeaning: number;
  /** The factor for a chunk of a day that the query is about. */
  date: number;
};

export const searchWeights: SearchWeights = {
  k1: 1.2,
  turnB: 0.1,
  messageB: 0.5,
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
  reply: 0.8,
  asked: 0.9,
  meaning: 0.4,
  previousMeaning: 0.3,
  date: 3,
};
