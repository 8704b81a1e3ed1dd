import { availableParallelism } from 'node:os';
import { ServiceError } from '../errors.ts';
import { FairQueue } from '../threads/fair-queue.ts';
import type { Thread, Threads } from '../threads/start.ts';
import { Activity } from './activity.ts';
import { createReadHold } from './read-hold.ts';
import { createReadPace } from './read-pace.ts';
import { unavailable } from './refusals.ts';
import type { Page, StorageConnection } from './types/memories.ts';

type ReadRequest = {
  projectId: number;
  operation: string;
  argument: unknown;
  /** The search index to use. A thread that holds this index is preferred. */
  user?: string;
  /** Cancels a read that is still waiting. */
  signal?: AbortSignal | undefined;
};

/** Reads that belong to no project, such as a count for /health, share this one's turn. */
export const noProject = 0;

/**
 * A project's read that has waited longer than this is rejected, because its client has probably
 * given up.
 */
const maxWaitMs = 10_000;
const maxWaiting = 1_000;
const maxThreads = 9;
/** The number of users to remember per thread, to guess which indexes the thread holds. */
const maxUsers = 10_000; // mutate-ignore constant: affects only speed
/** The total memory limit for the search indexes of all threads. */
const maxIndexBytes = 64 * 1024 * 1024;

type Waiting = ReadRequest & {
  askedAt: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

type Reader = { thread: Thread; projectId: number | null; users: Set<string> };

export type ReaderPool = ReturnType<typeof createReaderPool>;

/**
 * The pool of reader threads. A thread runs one read at a time. The pool has one more thread than
 * the machine has cores, up to `maxThreads`. A project may use all threads but one, so that it
 * cannot occupy the whole pool. While other projects are active, it may use all but two, so that it
 * leaves them a core, and is paused after large reads. Projects with waiting reads take turns.
 */
export function createReaderPool(options: {
  /** The module of the backend's reader thread. `start` returns what to pass to a new thread. */
  module: string;
  start(limits: { maxIndexBytes: number }): StorageConnection;
  threads: Threads;
}) {
  const size = Math.min(maxThreads, availableParallelism() + 1);
  const queue = new FairQueue<Waiting>();
  const readers: Reader[] = [];
  const activity = new Activity();
  const pace = createReadPace(dispatch);
  const hold = createReadHold(() => readers.every(({ projectId }) => projectId === null), dispatch);
  let isStopping = false;

  function start(): Reader {
    const given = options.start({ maxIndexBytes: Math.floor(maxIndexBytes / size) });
    const reader: Reader = {
      projectId: null,
      users: new Set(),
      thread: options.threads.start({
        name: 'reader',
        module: options.module,
        ...given,
        lost: (reason) => unavailable(`${reason}; try again`),
      }),
    };
    readers.push(reader);
    return reader;
  }

  /** Makes a thread the last choice after its read failed, because it may have no connection. */
  function moveToEnd(reader: Reader): void {
    // mutate-ignore constant: affects only which thread is used
    readers.push(...readers.splice(readers.indexOf(reader), 1));
    reader.users.clear();
  }

  function mayRun(projectId: number): boolean {
    if (pace.isPaused(projectId)) return false;
    const own = readers.filter((reader) => reader.projectId === projectId).length;
    const spared = activity.hasOthers(projectId) ? 2 : 1;
    return own < Math.max(1, size - spared);
  }

  /** Returns an idle thread, preferably one that holds the index, or starts a new thread. */
  function idleReader({ user }: ReadRequest): Reader | undefined {
    const idle = readers.filter(({ projectId }) => projectId === null);
    const sound = idle.filter(({ thread }) => thread.fault() === null);
    const holder = user === undefined ? undefined : sound.find(({ users }) => users.has(user));
    // mutate-ignore boundary: one more thread
    // mutate-ignore operand: affects only speed
    return holder ?? sound[0] ?? (readers.length < size ? start() : idle[0]);
  }

  function dispatch(): void {
    while (!isStopping && !hold.isActive()) {
      const isFree = readers.length < size || readers.some(({ projectId }) => projectId === null);
      const next = isFree ? queue.dequeue(mayRun) : undefined;
      if (next === undefined) return;
      if (next.signal?.aborted) next.resolve(undefined);
      else if (isGivenUp(next)) next.reject(waitedTooLong());
      else run(next);
    }
  }

  function run(request: Waiting): void {
    const reader = idleReader(request);
    if (reader === undefined) return;
    if (request.user !== undefined) remember(reader.users, request.user);
    const { projectId, operation, argument, resolve, reject } = request;
    reader.projectId = projectId;
    const begunAt = performance.now();
    const called = reader.thread.call(operation, argument);
    reader.thread.flush();
    called
      .then(
        (value) => {
          if (activity.hasOthers(projectId)) pace.add(projectId, unitsOf(value), begunAt);
          resolve(value);
        },
        (error) => {
          reject(error);
          if (hasLostDatabase(error)) moveToEnd(reader);
        },
      )
      .finally(() => {
        reader.projectId = null;
        hold.readEnded();
        dispatch();
      });
  }

  return {
    /** Records that the project has sent a request. */
    noteActive: (projectId: number) => activity.note(projectId),
    /** Resolves to undefined if the read was canceled. */
    read<Result>(request: ReadRequest): Promise<Result> {
      if (isStopping) return Promise.reject(unavailable('the service is shutting down'));
      if (queue.countOf(request.projectId) >= maxWaiting) return Promise.reject(waitedTooLong());
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      queue.push(request.projectId, { ...request, askedAt: performance.now(), resolve, reject });
      dispatch();
      // A reader thread returns what the operation returns.
      return promise as Promise<Result>;
    },
    betweenReads: hold.run,
    async stop(): Promise<void> {
      isStopping = true;
      for (const { reject } of queue.clear()) reject(unavailable('the service is shutting down'));
      await Promise.all(readers.map(({ thread }) => thread.stop()));
    },
  };
}

/** The amount of text in a page or in the results of a search. */
function unitsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null || !('items' in value)) return 0;
  const { items } = value as Pick<Page, 'items'>;
  return items.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Whether the error means that a thread has lost its database. The error for an unfinished index
 * has no cause.
 */
function hasLostDatabase(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'unavailable' && error.cause !== undefined;
}

/** Marks the user as the most recent, and removes the least recent user if there are too many. */
function remember(users: Set<string>, user: string): void {
  users.delete(user);
  users.add(user);
  const [oldest] = users;
  // mutate-ignore boundary: affects only memory
  if (users.size > maxUsers && oldest !== undefined) users.delete(oldest);
}

function isGivenUp({ projectId, askedAt }: Waiting): boolean {
  return projectId !== noProject && performance.now() - askedAt > maxWaitMs;
}

function waitedTooLong() {
  return unavailable('too many searches, lists and exports are waiting; try again later');
}
