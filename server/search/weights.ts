/** How much each sign counts. Measured by `tests/eval`, whose table says what each is worth. */
export type SearchWeights = {
  /** BM25: how fast repetition stops counting, and how much length counts against a passage. */
  repetition: number;
  length: number;
  /** A word that is another form of the one looked for, and one of its kin: "film" for "movie". */
  form: number;
  kin: number;
  /** A word that begins with the last, unfinished one; and one that differs by a slip. */
  open: number;
  close: number;
  /** Who speaks was asked for; full for a long turn, less for one of `labelWords` or fewer. */
  label: number;
  labelWords: number;
  /** Two words of a quotation or a code that stand together here too. */
  tight: number;
  /** What an earlier and a later turn close by lend; it falls off over so many words. */
  before: number;
  beforeWords: number;
  after: number;
  afterWords: number;
  /** How much of the lender's and the borrower's own length counts as distance. */
  span: number;
  /** What is lent where not both are turns of a conversation. */
  unlabelled: number;
  /** What a turn counts that borrows all it has. */
  borrowed: number;
};

export const searchWeights: SearchWeights = {
  repetition: 1.2,
  length: 0.1,
  form: 1,
  kin: 0.25,
  open: 0.3,
  close: 0.6,
  label: 2,
  labelWords: 8,
  tight: 2,
  before: 0.9,
  beforeWords: 30,
  after: 0.2,
  afterWords: 20,
  span: 0.15,
  unlabelled: 0.5,
  borrowed: 0.7,
};
