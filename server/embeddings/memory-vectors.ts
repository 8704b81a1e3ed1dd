import type { MemoryToEmbed, NewVectors } from '../storage/types/vectors.ts';
import type { EmbeddingModel, Priority } from './model.ts';
import { hashOf } from './texts.ts';
import { packVector, vectorBytes } from './vector.ts';

export type OpenModel = { modelId: number; model: EmbeddingModel };
type Texts = readonly (string | null)[];

/** A memory and its texts, as `textsToEmbed` returns them. */
export type Prepared = { memory: MemoryToEmbed; texts: Texts };

/** The number of memories whose vectors are kept. */
const maxRecent = 64;

/**
 * Makes the vectors of memories, all with one call of the model. The latest ones are kept, finished
 * or not: a search and the background often need the vectors of the same new memory, which is then
 * embedded only once.
 */
export function createMemoryVectors() {
  const recent = new Map<string, Promise<string>>();

  function remember(name: string, made: Promise<string>): void {
    recent.set(name, made);
    made.catch(() => recent.delete(name));
    const [oldest] = recent.keys();
    if (recent.size > maxRecent && oldest !== undefined) recent.delete(oldest);
  }

  return async function vectorsOf(
    { modelId, model }: OpenModel,
    memories: readonly Prepared[],
    priority: Priority,
  ): Promise<NewVectors[]> {
    const hashed = memories.map(({ memory, texts }) => ({ memory, texts, hash: hashOf(texts) }));
    const data = new Map<string, Promise<string>>();
    const missing = new Map<string, Texts>();
    for (const { memory, texts, hash } of hashed) {
      const known = recent.get(`${modelId} ${hash}`);
      if (known !== undefined) data.set(hash, known);
      else if (hash !== memory.textHash) missing.set(hash, texts);
    }
    const made = embedTexts(model, [...missing.values()], priority);
    for (const [at, hash] of [...missing.keys()].entries()) {
      const one = made.then((all) => all[at] ?? '');
      data.set(hash, one);
      remember(`${modelId} ${hash}`, one);
    }
    return Promise.all(
      hashed.map(async ({ memory: { id, change, textHash }, hash }) => {
        const isSame = hash === textHash;
        return { id, change, textHash: hash, data: isSame ? null : ((await data.get(hash)) ?? '') };
      }),
    );
  };
}

async function embedTexts(model: EmbeddingModel, texts: readonly Texts[], priority: Priority) {
  const known = texts.flat().filter((text) => text !== null);
  const found = await model.embed(known, priority);
  return texts.map((ofMemory) => {
    const vectors = ofMemory.map((text) => (text === null ? null : (found.shift() ?? null)));
    return pack(vectors, model.dims);
  });
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
