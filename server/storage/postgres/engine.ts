import { runWhole, type ShortEngine, type Tx, type WriteTx } from '../engine.ts';
import { nameOfKey } from '../operations/idempotency.ts';
import { projectOf } from '../pooled-reads.ts';
import { QueueLimit } from '../queue-limit.ts';
import type { Connection } from './connection.ts';
import { notRead } from './errors.ts';
import { createShortTx } from './tx.ts';
import { createWriteQueue } from './write-queue.ts';

/** The deadline of statements that depend on the amount of data, such as those of an erasure. */
const longDeadlineMs = 10 * 60_000;

/** What a write can do beside statements. An erased text is removed by the database's VACUUM. */
export function writeTxOf(tx: Tx, queueLimit: QueueLimit): WriteTx {
  return { ...tx, noteRemoved: async () => {}, queueLimit };
}

type QueueOptions = Partial<Parameters<typeof createWriteQueue>[0]>;

/** Reads on `connection`. Writes on `connections`, or on the same one. */
export function createShortEngine(
  given: { connection: Connection; queueLimit?: QueueLimit } & QueueOptions,
): ShortEngine & { drain(): Promise<void> } {
  const { connection, queueLimit = new QueueLimit(), ...queue } = given;
  const tx = createShortTx(connection);
  const writes = createWriteQueue({ connections: [connection], ...queue });
  return {
    drain: writes.drain,
    write: (operation, input) =>
      writes.run({
        projectId: projectOf(input),
        cost: operation.cost?.(input) ?? 1,
        work: (own) => runWhole(writeTxOf(own, queueLimit), operation, input),
        key: nameOfKey(input),
        users: operation.users?.(input) ?? null,
        deadlineMs: operation.isLong ? longDeadlineMs : undefined,
      }),
    async readShort(operation, input) {
      try {
        return await operation.run(tx, input);
      } catch (error) {
        throw notRead(error);
      }
    },
  };
}
