import { answerCalls, parent, watched, yieldPriority } from '../threads/serve.ts';
import type { ReaderTx, ReadOperation, Tx, Writer } from './engine.ts';
import { createIndexCache, type IndexCache } from './index-cache.ts';
import { threadReads } from './storage.ts';

/** The operations by the names in messages to this thread. */
const byName = new Map<string, ReadOperation<unknown, unknown>>(Object.entries(threadReads));

type AfterReply = Parameters<ReaderTx['afterReply']>[0];

/** Each keeps a snapshot in memory until it is stored. */
const maxRunning = 4; // mutate-ignore constant: affects only memory

/**
 * A reader thread runs searches, long lists, exports and other slow reads. It runs one
 * operation at a time, each in a snapshot. The HTTP thread schedules the operations.
 */
export function serveReads(options: {
  /** The memory limit for the search indexes that this thread keeps. */
  maxIndexBytes: number;
  /** Drops the indexes first if the database may have lost changes that they contain. */
  inSnapshot<T>(read: (tx: Tx) => Promise<T>, indexes: IndexCache): Promise<T>;
  /** Writes what reads have built, in transactions of their own. */
  write: Writer;
  /** Maps an error of the database. */
  notRead(error: unknown): unknown;
  close(): void;
}): void {
  const { inSnapshot, write, notRead, close } = options;
  const indexes = createIndexCache(options.maxIndexBytes);
  let planned: AfterReply | null = null;
  let running = 0;

  const afterReply = (work: AfterReply) => {
    planned = work;
  };

  async function runPlanned(): Promise<void> {
    const work = planned;
    planned = null;
    if (work === null || running === maxRunning) return;
    running += 1;
    await work(write).catch(() => {});
    running -= 1;
  }

  async function run(name: string, argument: unknown): Promise<unknown> {
    const operation = byName.get(name);
    if (operation === undefined) throw new Error(`unknown read: ${name}`);
    try {
      return await inSnapshot(
        (tx) => operation.run({ ...tx, indexes, afterReply }, argument),
        indexes,
      );
    } catch (error) {
      throw notRead(error);
    }
  }

  yieldPriority();
  answerCalls(parent, run, () => void runPlanned());
  watched(close);
}
