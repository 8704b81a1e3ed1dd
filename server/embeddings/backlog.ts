import type { Logger } from '../log.ts';
import type {
  MemoryToEmbed,
  NewVectors,
  UserToEmbed,
  VectorQueue,
} from '../storage/vector-storage.ts';
import { createNotifier } from '../tasks/notifier.ts';
import { type EmbeddingModel, ModelError, type Priority } from './model.ts';
import { hashOf, textsToEmbed } from './texts.ts';
import { packVector, vectorBytes } from './vector.ts';

/**
 * Makes the vectors of all memories that have none, in the background: it asks the storage for
 * users with such memories, reads some memories, embeds their texts and stores the vectors. Users
 * take turns. What a crash interrupts is found again by the next sweep.
 */
export type Backlog = {
  wake(): void;
  /** Embeds a few new memories of the user now. Rejects if the model or the storage fails. */
  embedNow(user: UserToEmbed): Promise<void>;
  stop(): Promise<void>;
};

export type OpenModel = { modelId: number; model: EmbeddingModel };

const usersAtOnce = 64;
const memoriesAtOnce = 256;
/** A search waits for at most this many new memories, with as many texts. */
const memoriesNow = 8;
/** Another server may have stored memories without a notification to this one. */
const sweepEveryMs = 5_000;
const pauseAfterFaultMs = 5_000;

export function startBacklog(options: {
  storage: VectorQueue;
  /** Loads the model when it is first needed. */
  open(): Promise<OpenModel>;
  log: Logger;
}): Backlog {
  const { storage, open, log } = options;
  const work = createNotifier();
  /** Not interrupted by new work, so that a failing model is not asked after every write. */
  const pause = createNotifier();
  let isStopping = false;
  let lastFault = '';

  async function loop(): Promise<void> {
    while (!isStopping) {
      try {
        const hadWork = await sweep();
        lastFault = '';
        if (!hadWork) await work.wait(sweepEveryMs);
      } catch (error) {
        await pauseAfter(error);
      }
    }
  }

  /** Embeds some memories of each user with work. Returns whether there was any. */
  async function sweep(): Promise<boolean> {
    const users = await storage.usersToEmbed({ limit: usersAtOnce });
    for (const user of users) {
      if (isStopping) break;
      await embedSome(user, memoriesAtOnce, 'background');
    }
    return users.length > 0;
  }

  async function embedSome(user: UserToEmbed, limit: number, priority: Priority): Promise<void> {
    const { modelId, model } = await open();
    const { from, upTo, memories } = await storage.memoriesToEmbed({ ...user, modelId, limit });
    if (memories.length === 0 && upTo === from) return;
    const texts = memories.map(textsToEmbed);
    const count = texts.flat().filter((text) => text !== null).length;
    if (priority === 'question' && count > memoriesNow) return;
    const vectors: NewVectors[] = [];
    for (const [at, memory] of memories.entries()) {
      vectors.push(await vectorsOf(model, memory, texts[at] ?? [], priority));
    }
    await storage.storeVectors({ ...user, modelId, from, upTo, vectors });
  }

  async function pauseAfter(error: unknown): Promise<void> {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== lastFault) log.warn('could not embed memories; retrying', { error });
    lastFault = message;
    const retryAfterMs = error instanceof ModelError ? error.retryAfterMs : 0;
    await pause.wait(Math.max(pauseAfterFaultMs, retryAfterMs));
  }

  const ended = loop();
  return {
    wake: work.notify,
    embedNow: (user) => embedSome(user, memoriesNow, 'question'),
    async stop() {
      isStopping = true;
      work.notify();
      pause.notify();
      await ended;
    },
  };
}

async function vectorsOf(
  model: EmbeddingModel,
  { id, change, textHash }: MemoryToEmbed,
  texts: readonly (string | null)[],
  priority: Priority,
): Promise<NewVectors> {
  const hash = hashOf(texts);
  if (hash === textHash) return { id, change, textHash: hash, data: null };
  const found = await model.embed(
    texts.filter((text) => text !== null),
    priority,
  );
  const vectors = texts.map((text) => (text === null ? null : (found.shift() ?? null)));
  return { id, change, textHash: hash, data: pack(vectors, model.dims) };
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
