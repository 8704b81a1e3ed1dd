/** The weight of each signal, tuned with `tests/eval`. The figures are in docs/search.md. */
export const searchWeights = {
  /** BM25's k1: how slowly the repetition of a term saturates. */
  k1: 1.2,
  /**
   * BM25's b, the effect of a chunk's length: `turnB` for turns of a conversation, in which longer
   * turns have more content, `messageB` for messages of a chat with a language model, and `textB`
   * for all other text.
   */
  turnB: 0.1,
  messageB: 0.5,
  textB: 0.75,
  /** Another form of the word, and a synonym. */
  inflection: 1,
  synonym: 0.25,
  /** The word with accents that differ from the query's. */
  otherAccents: 0.2,
  /** A word that begins with the unfinished last word, and a fuzzy match of a missing term. */
  prefix: 0.3,
  fuzzy: 0.6,
  /**
   * A speaker or a note's topic that the query names, in the label of a chunk. A chunk of
   * `labelWords` words gets half of this weight.
   */
  speaker: 2,
  topic: 1,
  labelWords: 8,
  /** Two words of a quotation or a code that are also adjacent in the chunk. */
  phrase: 2,
  /** The boost from previous chunks, and the distance in words over which it decreases. */
  previous: 0.9,
  previousReach: 60,
  /** The share of both chunks' lengths that counts as distance. */
  span: 0.15,
  /** The factor for a boost between neighbours that are not both turns of a conversation. */
  withoutSpeaker: 0.5,
  /** The factor for a language model's reply: replies are long and contain many words. */
  reply: 0.8,
  /** The factor for everything else if the query asks for the words of an assistant. */
  notReply: 0.3,
  /** The boost of a reply from the message that it answers. */
  asked: 0.9,
  /**
   * The share of the meaning in a score, if the question has a vector and the model knows its
   * language; the rest is the words'. `textMeaning` is that of text which is neither a turn of a
   * conversation nor a message of a chat with a language model: a note says a thing once. It is
   * less than half, so that a text with all of the words comes before one with none of them.
   */
  meaning: 0.42,
  textMeaning: 0.48,
  /** The factor for a turn of a conversation, beside other text, whose scores are squared. */
  turn: 0.65,
  /** The share of the previous turn's vector that is added to a turn's. */
  previousMeaning: 0.3,
  /** The share in a reply's meaning of the message that it answers, if that is nearer. */
  askedMeaning: 0.3,
  /** The share in a user's message of the reply before it or what that answers, if nearer. */
  exchangeMeaning: 0.5,
  /**
   * To a query about the present, a newer statement is about the same thing as an older one if
   * their vectors have at least this cosine, and the newer has this share of the older one's score.
   */
  newerCosine: 0.55,
  newerScore: 0.2,
  /** The factor for a chunk of a day that the query is about. */
  date: 3,
};

export type SearchWeights = typeof searchWeights;
