import { type Incoming, openInbox, parent, watched, yieldPriority } from '../threads/serve.ts';
import type { Tx } from './engine.ts';
import { createHeldIndexes } from './held-indexes.ts';
import { readOperations } from './operations/index.ts';

/**
 * A reader thread runs searches, filtered lists, exports and other slow reads. It runs one
 * operation at a time, each in a snapshot. The HTTP thread schedules the operations.
 */
export function serveReads(options: {
  /** The memory limit for the search indexes that this thread keeps. */
  maxIndexBytes: number;
  inSnapshot<T>(read: (tx: Tx) => Promise<T>): Promise<T>;
  /** Maps an error of the database. */
  notRead(error: unknown): unknown;
  close(): void;
}): void {
  const { inSnapshot, notRead, close } = options;
  const indexes = createHeldIndexes(options.maxIndexBytes);

  async function answer({ operation: name, argument, reply, fail }: Incoming): Promise<void> {
    try {
      const operation = readOperations.get(name);
      if (operation === undefined) throw new Error(`unknown read: ${name}`);
      reply(await inSnapshot((tx) => operation.run({ ...tx, indexes }, argument)));
    } catch (error) {
      fail(notRead(error));
    }
    inbox.flushReplies();
  }

  yieldPriority();
  const inbox = openInbox(parent(), (call) => void answer(call));
  watched(close);
}
