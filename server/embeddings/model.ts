/** A model that maps texts to vectors of length 1 whose dot products compare meanings. */
export type EmbeddingModel = {
  name: string;
  /** Identifies the weights, as far as they are known. */
  digest: string;
  /** A multiple of 8. */
  dims: number;
  /** The number of texts that are best embedded in one call. */
  textsAtOnce: number;
  /** How the cosines of unrelated texts are distributed; null if it has not been measured. */
  unrelated: Distribution | null;
  /**
   * Returns how far the model knows the language of a question: above 0, and at most 1. The less it
   * knows, the less the meaning counts in a search.
   */
  fluency(question: string): number;
  /**
   * Returns the vector of each text, or null for a text that the model does not understand. Texts
   * that a search waits for come before those in the background. Throws a `ModelError`.
   */
  embed(texts: readonly string[], priority: Priority): Promise<(Float32Array | null)[]>;
};

export type Distribution = { mean: number; deviation: number };

export const builtInModel = 'all-MiniLM-L6-v2';

/** A search waits for its question, and for the texts of a few new memories, which are urgent. */
export type Priority = 'question' | 'urgent' | 'background';

/** How many new memories are embedded together while a search waits, with as many texts. */
export const memoriesNow = 8;

export class ModelError extends Error {
  override readonly name = 'ModelError';
  /** How long the model asks to be left alone. */
  readonly retryAfterMs: number = 0;
  /** Whether the vectors are not those of the model that was opened. */
  readonly isOtherModel: boolean = false;
  /** Whether the cause is a text. */
  readonly rejection: 'clear' | 'unclear' | null = null;
  /** Whether the model took too long. Fewer texts may help. */
  readonly isLate: boolean = false;

  constructor(
    message: string,
    more: Partial<Pick<ModelError, 'retryAfterMs' | 'isOtherModel' | 'rejection' | 'isLate'>> = {},
  ) {
    super(message);
    Object.assign(this, more);
  }
}
