import { saveMemory } from '../../../server/storage/operations/memories.ts';
import { migrate } from '../../../server/storage/sqlite/migrate.ts';
import { openForWriting } from '../../../server/storage/sqlite/settings.ts';
import { createAlone } from '../../../server/storage/sqlite/transaction.ts';
import type { NewMemory } from '../../../server/storage/types/memories.ts';

export type StoreOptions = {
  path: string;
  synchronous: 'FULL' | 'NORMAL';
};

export type SingleCommitStore = {
  save(memory: NewMemory, at: number): void | Promise<void>;
  close(): void;
};

/**
 * Opens a store that writes the same rows and indexes as the service, with one transaction per
 * save.
 */
export function openStore({ path, synchronous }: StoreOptions): SingleCommitStore {
  const db = openForWriting(path, { create: true });
  migrate(db, path);
  db.run(`PRAGMA synchronous = ${synchronous}`);
  db.run('INSERT INTO projects (name) VALUES (?) ON CONFLICT DO NOTHING', ['default']);
  const projectId = 1;
  const writeAlone = createAlone(db);
  return {
    async save(memory, at) {
      await writeAlone(saveMemory, { projectId, at, idempotency: null, memory });
    },
    close: () => db.close(true),
  };
}
