/** The distribution of the cosines of unrelated texts, and the vector of a fixed sentence. */
export type Model = {
  name: string;
  digest: string;
  dims: number;
  mean: number;
  deviation: number;
  /** The mean of the vectors of unrelated texts, base64 as stored; null if it was not measured. */
  centre: string | null;
  /** Base64 of the vector as stored. */
  probe: string;
};

export type PresentModel = Model & { modelId: number };

/** `from` is the user's embedded change. */
export type ToEmbed = { from: number; upTo: number; memories: MemoryToEmbed[] };

export type MemoryToEmbed = {
  id: string;
  change: number;
  content: string;
  /** A JSON object as text. */
  metadata: string;
  /** The hash of the texts whose vectors of this model are stored, if any. */
  textHash: string | null;
};

/**
 * A memory's vectors: base64 of a float32 scale and one int8 per dimension each, in the order of
 * its chunks; empty if its text gets none, and null to keep the stored ones.
 */
export type NewVectors = { id: string; change: number; textHash: string; data: string | null };

/**
 * A question's vector as base64 of float32, and what a search needs to know of the model that made
 * it: the mean and deviation of the cosines that the question has with unrelated texts, and how far
 * the model knows the question's language: above 0, and at most 1.
 */
export type QuestionVector = Pick<PresentModel, 'modelId' | 'dims' | 'mean' | 'deviation'> & {
  vector: string;
  fluency: number;
};

/** `alone` says that only the meaning counts, not the words of the query. */
export type SearchMeaning = QuestionVector & { alone: boolean };
