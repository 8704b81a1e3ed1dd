import type { MemoryToEmbed, NewVectors } from '../storage/vector-storage.ts';
import type { EmbeddingModel, Priority } from './model.ts';
import { hashOf } from './texts.ts';
import { packVector, vectorBytes } from './vector.ts';

export type OpenModel = { modelId: number; model: EmbeddingModel };
type Texts = readonly (string | null)[];

/** The number of memories whose vectors are kept. */
const maxRecent = 64;

/**
 * Makes the vectors of memories. The latest ones are kept, finished or not: a search and the
 * background often need the vectors of the same new memory, which is then embedded only once.
 */
export function createMemoryVectors() {
  const recent = new Map<string, Promise<string>>();

  function dataOf({ modelId, model }: OpenModel, texts: Texts, hash: string, priority: Priority) {
    const name = `${modelId} ${hash}`;
    const known = recent.get(name);
    if (known !== undefined) return known;
    const made = embedTexts(model, texts, priority);
    recent.set(name, made);
    made.catch(() => recent.delete(name));
    const [oldest] = recent.keys();
    if (recent.size > maxRecent && oldest !== undefined) recent.delete(oldest);
    return made;
  }

  return async function vectorsOf(
    opened: OpenModel,
    { id, change, textHash }: MemoryToEmbed,
    texts: Texts,
    priority: Priority,
  ): Promise<NewVectors> {
    const hash = hashOf(texts);
    const data = hash === textHash ? null : await dataOf(opened, texts, hash, priority);
    return { id, change, textHash: hash, data };
  };
}

async function embedTexts(model: EmbeddingModel, texts: Texts, priority: Priority) {
  const found = await model.embed(
    texts.filter((text) => text !== null),
    priority,
  );
  const vectors = texts.map((text) => (text === null ? null : (found.shift() ?? null)));
  return pack(vectors, model.dims);
}

/** Concatenates vectors. One that is missing is zero; missing ones at the end are left out. */
function pack(vectors: readonly (Float32Array | null)[], dims: number): string {
  const count = vectors.findLastIndex((vector) => vector !== null) + 1;
  const bytes = new Uint8Array(count * vectorBytes(dims));
  for (const [at, vector] of vectors.slice(0, count).entries()) {
    if (vector !== null) bytes.set(packVector(vector), at * vectorBytes(dims));
  }
  return Buffer.from(bytes).toString('base64');
}
