import { createConnection } from '../../../server/storage/postgres/connection.ts';
import { memoryInserts, newRow } from '../../../server/storage/postgres/row.ts';
import { inTransaction } from '../../../server/storage/postgres/transaction.ts';
import { countChanges } from '../../../server/storage/postgres/writer/users.ts';
import type { SingleCommitStore } from './store.ts';

/**
 * With fewer connections, the requests of 64 clients wait for a connection. With more connections,
 * they wait for row locks.
 */
const connections = 16;
const projectId = 1;

/**
 * Stores the same rows as the service through the same client, with one transaction per save. The
 * statements of a transaction are pipelined, as in the service.
 */
export function openPostgresStore(url: string): SingleCommitStore {
  const all = Array.from({ length: connections }, () =>
    createConnection({ url, purpose: 'benchmark' }),
  );
  const idle = [...all];
  const waiting: (() => void)[] = [];

  return {
    async save(memory, at) {
      while (idle.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.push(resolve);
        await promise;
      }
      const connection = idle.pop() as (typeof all)[number];
      try {
        await inTransaction(connection, async () => ({
          last: [
            ...countChanges([{ projectId, userId: memory.userId, added: 1 }]),
            ...memoryInserts([newRow(projectId, memory, at)], null),
          ],
          result: null,
        }));
      } finally {
        idle.push(connection);
        waiting.shift()?.();
      }
    },
    close() {
      for (const connection of all) connection.close();
    },
  };
}
