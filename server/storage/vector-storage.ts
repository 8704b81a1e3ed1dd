import type { UserRef } from './project-storage.ts';

/**
 * The vectors of memories, made in the background. A write stores no work for them:
 * `users.embedded_change` says up to which of the user's changes all memories have vectors of the
 * present model. Vectors are deleted with their memory, in the same transaction.
 */
export interface VectorQueue {
  /** Returns the present model: the one whose vectors are stored and searched. Null at first. */
  presentModel(): Promise<PresentModel | null>;

  /**
   * Returns the model with this name and digest and makes it the present one. If it was not, no
   * memory has vectors of it: all users have work, and vectors of other models are not used.
   */
  ensureModel(model: Model): Promise<PresentModel>;

  /** Returns up to `limit` users who have memories without vectors, projects in turn. */
  usersToEmbed(query: { limit: number }): Promise<UserRef[]>;

  /**
   * Returns the user's next memories without vectors in order of change: at most `limit`, and about
   * 1,000,000 characters of text, but at least one if there is any.
   */
  memoriesToEmbed(query: UserRef & { modelId: number; limit: number }): Promise<ToEmbed>;

  /**
   * Stores the vectors of the memories that are still at the given change, and records that the
   * user's changes are embedded up to `upTo`. Stores nothing and returns false if the model is not
   * the present one any more, or if the user's embedded change is not `from` any more: another
   * server has done the work.
   */
  storeVectors(
    result: UserRef & { modelId: number; from: number; upTo: number; vectors: NewVectors[] },
  ): Promise<boolean>;

  /** Returns an estimate of the number of memories without vectors. */
  embeddingBacklog(): Promise<number>;
}

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
 * it: the mean and deviation of the cosines that the question has with unrelated texts.
 */
export type QuestionVector = {
  modelId: number;
  dims: number;
  vector: string;
  mean: number;
  deviation: number;
};

/** `alone` says that only the meaning counts, not the words of the query. */
export type SearchMeaning = QuestionVector & { alone: boolean };
