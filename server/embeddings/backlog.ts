import type { Logger } from '../log.ts';
import { count } from '../metrics/counts.ts';
import type { ConnectedStorage } from '../storage/storage.ts';
import type { UserRef } from '../storage/types/project.ts';
import type { NewVectors } from '../storage/types/vectors.ts';
import { createNotifier } from '../tasks/notifier.ts';
import { FairQueue } from '../threads/fair-queue.ts';
import { createMemoryVectors, type OpenModel, type Prepared } from './memory-vectors.ts';
import { ModelError, memoriesNow, type Priority } from './model.ts';
import { textsToEmbed } from './texts.ts';

/** What came of embedding a user's next memories. `overtaken` by another thread or server. */
type Step = 'none' | 'stored' | 'overtaken' | 'tooMany';

/** A sweep reads the rows of all users, and should find work for longer than it takes. */
const usersAtOnce = 512;
/** More users than this are found by a sweep. */
const maxUsers = 10_000;
/** Two requests to an endpoint, or some seconds of the built-in model. */
const memoriesAtOnce = 62;
const sweepEveryMs = 60_000;
/** The end of a task is a change without a notice, which a sweep finds soon after. */
const sweepAfterWorkMs = 5_000;
const pauseAfterFaultMs = 5_000;

/**
 * Makes the vectors of all memories that have none, in the background. It learns of users with new
 * memories by notices, and finds all others when it sweeps the users: at the start, when there is
 * nothing else to do, and once a minute, because another server or a crash may have left work.
 * Projects take turns, and the users of each, but users who are searched come first.
 */
export function startBacklog(options: {
  storage: ConnectedStorage;
  /** Returns the present model, and loads it when it is first needed. */
  open(): Promise<OpenModel>;
  /** Rejects if another server has changed the model. Called by each sweep. */
  check(): Promise<void>;
  log: Logger;
}) {
  const { storage, open, check, log } = options;
  const users = createUserQueue();
  /** Users whose search has not found vectors of all memories come first. */
  const searched = createUserQueue();
  /** Users whose memories could not be embedded since the last sweep. They do not come first. */
  const failed = new Set<string>();
  const vectorsOf = createMemoryVectors();
  const work = createNotifier();
  /** Not interrupted by new work, so that a failing model is not asked after every write. */
  const pause = createNotifier();
  let isStopping = false;
  let lastFault = '';
  let sweptAt = Number.NEGATIVE_INFINITY;
  let workedAt = Number.NEGATIVE_INFINITY;
  /** Whether the last sweep has found all work done. */
  let isIdle = false;

  async function loop(): Promise<void> {
    while (!isStopping) {
      try {
        await step();
      } catch (error) {
        await pauseAfter(error);
      }
    }
  }

  async function step(): Promise<void> {
    const isOverdue = performance.now() - sweptAt >= sweepEveryMs;
    const queue = searched.isEmpty() ? users : searched;
    const user = isOverdue ? undefined : queue.dequeue();
    if (user !== undefined) return embedNext(user, queue);
    if (!isOverdue && isIdle) await work.wait(restMs());
    if (isOverdue || users.isEmpty()) await sweep();
  }

  async function sweep(): Promise<void> {
    sweptAt = performance.now();
    failed.clear();
    await check();
    const found = await storage.usersToEmbed({ limit: usersAtOnce });
    for (const user of found) users.add(user);
    isIdle = found.length === 0;
  }

  /** The tasks of the memories that were embedded last may still be running. */
  function restMs(): number {
    const isSoon = performance.now() - workedAt < sweepAfterWorkMs;
    return isSoon ? sweepAfterWorkMs : sweepEveryMs;
  }

  async function embedNext(user: UserRef, queue: UserQueue): Promise<void> {
    if (queue === searched && failed.has(nameOf(user))) {
      users.add(user);
      return;
    }
    workedAt = performance.now();
    try {
      const step = await embedSome(user, memoriesAtOnce, 'background');
      lastFault = '';
      if (step !== 'none') queue.add(user);
    } catch (error) {
      // A text that the model refuses must not keep back the others.
      failed.add(nameOf(user));
      users.add(user);
      throw error;
    }
  }

  async function embedSome(user: UserRef, limit: number, priority: Priority): Promise<Step> {
    const opened = await open();
    const { modelId } = opened;
    const { from, memories, ...found } = await storage.memoriesToEmbed({ ...user, modelId, limit });
    if (memories.length === 0 && found.upTo === from) return 'none';
    const all = memories.map((memory) => ({ memory, texts: textsToEmbed(memory) }));
    const [first = []] = priority === 'urgent' ? groupsOf(all, memoriesNow) : [all];
    if (priority === 'urgent' && countOf(first) > memoriesNow) return 'tooMany';
    const next = all[first.length];
    const upTo = next === undefined ? found.upTo : Math.max(from, next.memory.change - 1);
    const vectors: NewVectors[] = [];
    async function store(through: number): Promise<boolean> {
      const made = { from, upTo: through, vectors };
      const isStored = await storage.storeVectors({ ...user, modelId, ...made });
      if (isStored) count('memory_embedded_memories_total', {}, vectors.length);
      return isStored;
    }
    for (const some of groupsOf(first, opened.model.textsAtOnce)) {
      if (isStopping) return 'none';
      try {
        vectors.push(...(await vectorsOf(opened, some, priority)));
      } catch (error) {
        // A model that refuses more requests must not be asked for the same texts again and again.
        const [failed] = some;
        if (failed !== undefined && vectors.length > 0) await store(failed.memory.change - 1);
        throw error;
      }
    }
    if (!(await store(upTo))) return 'overtaken';
    return memories.length === 0 ? 'none' : 'stored';
  }

  async function pauseAfter(error: unknown): Promise<void> {
    if (isStopping) return;
    const message = error instanceof Error ? error.message : String(error);
    if (message !== lastFault) log.warn('could not embed memories; retrying', { error });
    lastFault = message;
    const retryAfterMs = error instanceof ModelError ? error.retryAfterMs : 0;
    await pause.wait(Math.max(pauseAfterFaultMs, retryAfterMs));
  }

  void loop();
  return {
    /** Embeds the memories of these users next. */
    notify(changed: readonly UserRef[]): void {
      for (const user of changed) {
        if (!users.add(user)) isIdle = false;
      }
      work.notify();
    },
    /** Embeds the memories of this user before those of users who are not searched. */
    prefer(user: UserRef): void {
      searched.add(user);
      work.notify();
    },
    /**
     * Embeds a few new memories of the user now. Returns false if there are none, or if the first
     * has too many texts. Rejects if the model or the storage fails.
     */
    async embedNow(user: UserRef): Promise<boolean> {
      // The background may have stored vectors of an older change in the meantime.
      for (;;) {
        const step = await embedSome(user, memoriesNow, 'urgent');
        if (step !== 'overtaken') return step === 'stored';
      }
    },
    /** Stops without waiting for the model, because the next start repeats what is interrupted. */
    stop(): void {
      isStopping = true;
    },
  };
}

/** Returns groups with at most this many texts, or with one memory. */
function* groupsOf(memories: readonly Prepared[], textsAtOnce: number): Generator<Prepared[]> {
  let group: Prepared[] = [];
  for (const one of memories) {
    if (group.length > 0 && countOf([...group, one]) > textsAtOnce) {
      yield group;
      group = [];
    }
    group.push(one);
  }
  if (group.length > 0) yield group;
}

function countOf(memories: readonly Prepared[]): number {
  return memories.flatMap(({ texts }) => texts).filter((text) => text !== null).length;
}

const nameOf = ({ projectId, userId }: UserRef) => `${projectId} ${userId}`;

type UserQueue = ReturnType<typeof createUserQueue>;

/** The users that are to be looked at, each once, projects in turn. */
function createUserQueue() {
  const queue = new FairQueue<UserRef>();
  const queued = new Set<string>();
  return {
    /** Returns false if there are too many. */
    add(user: UserRef): boolean {
      const name = nameOf(user);
      if (queued.has(name)) return true;
      if (queued.size >= maxUsers) return false;
      queued.add(name);
      queue.push(user.projectId, user);
      return true;
    },
    dequeue(): UserRef | undefined {
      const user = queue.dequeue();
      if (user !== undefined) queued.delete(nameOf(user));
      return user;
    },
    isEmpty: () => queued.size === 0,
  };
}
