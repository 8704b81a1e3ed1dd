import { packVector } from '../../server/embeddings/vector.ts';
import type { SearchMeaning } from '../../server/storage/types/vectors.ts';
import { createRandom, type Random } from '../support/random.ts';
import type { Opened } from './fixtures.ts';

/* A model for tests, whose vectors of texts that begin with the same word are similar. */

const words =
  'lantern harbour kettle walrus zeppelin garden winter coffee doctor invoice refund delivery ' +
  'running runs ran city cities São Zürich naïve 東京 метро tickets ticket dark mode ana: ben:';
const vocabulary = words.split(' ');

/** Returns a random text of so many words. */
export function textOf(random: Random, count: number): string {
  const chosen = Array.from({ length: count }, () => random.pick(vocabulary));
  return chosen.join(random.pick([' ', ', ', '\n']));
}

const seed = 20_261_122;
const dims = 64;
const distribution = { dims, mean: 0.05, deviation: 0.1, centre: null };

export async function useModel({ storage }: Opened, digest = 'same'): Promise<number> {
  return (await storage.ensureModel({ name: 'm', digest, ...distribution, probe: 'AAAA' })).modelId;
}

function vectorOf(text: string): Float32Array {
  const [first = ''] = text.split(/\W/);
  const [shared, own] = [createRandom(seed).fork(first), createRandom(seed).fork(text)];
  const values = Array.from({ length: dims }, () => shared.next() + own.next() - 1);
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(values, (value) => value / length);
}

/** A long text has two vectors, and a very short one none. */
function storedVectors(text: string): string {
  const parts = text.length < 5 ? [] : text.length < 300 ? [text] : [text, text.slice(300)];
  return Buffer.concat(parts.map((part) => packVector(vectorOf(part)))).toString('base64');
}

/** Stores the vectors of the user's next memories, by default of all. */
export async function embed(
  { storage }: Opened,
  user: { projectId: number; userId: string; modelId: number },
  limit?: number,
): Promise<void> {
  for (let isDone = false; !isDone; ) {
    const work = await storage.memoriesToEmbed({ ...user, limit: limit ?? 5_000 });
    const { from, upTo, memories } = work;
    const vectors = memories.map(({ id, change, content }) => {
      return { id, change, textHash: content, data: storedVectors(content) };
    });
    await storage.storeVectors({ ...user, from, upTo, vectors });
    isDone = limit !== undefined || upTo === from;
  }
}

/** What a search needs for the meaning of the query. */
export function meaningOf(modelId: number, query: string, alone: boolean): SearchMeaning {
  const vector = Buffer.from(vectorOf(query).buffer).toString('base64');
  return { modelId, ...distribution, vector, fluency: 1, alone };
}
