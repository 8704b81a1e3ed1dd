import { saveMemory } from '../../../server/storage/operations/memories.ts';
import { createConnection } from '../../../server/storage/postgres/connection.ts';
import { writeTxOf } from '../../../server/storage/postgres/engine.ts';
import { runAlone } from '../../../server/storage/postgres/transaction.ts';
import { QueueLimit } from '../../../server/storage/queue-limit.ts';
import type { SingleCommitStore } from './store.ts';

/**
 * With fewer connections, the requests of 64 clients wait for a connection. With more connections,
 * they wait for row locks.
 */
const connections = 16;
const projectId = 1;

/** Runs the service's own operation through the same client, with one transaction per save. */
export function openPostgresStore(url: string): SingleCommitStore {
  const all = Array.from({ length: connections }, () =>
    createConnection({ url, purpose: 'benchmark' }),
  );
  const idle = [...all];
  const waiting: (() => void)[] = [];
  const queueLimit = new QueueLimit();

  return {
    async save(memory, at) {
      while (idle.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.push(resolve);
        await promise;
      }
      const connection = idle.pop() as (typeof all)[number];
      const write = { projectId, at, memory, idempotency: null };
      try {
        const session = await connection.session();
        await runAlone(session, (tx) => saveMemory.run(writeTxOf(tx, queueLimit), write));
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
