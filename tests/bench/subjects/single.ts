import { Database } from 'bun:sqlite';
import { migrate } from '../../../server/storage/sqlite/migrate.ts';
import { createPassages } from '../../../server/storage/sqlite/passages.ts';
import { prepareInsert } from '../../../server/storage/sqlite/row.ts';
import {
  applySetting,
  openDatabase,
  writerCacheSize,
} from '../../../server/storage/sqlite/settings.ts';
import type { Passage, StoredMemory } from '../../../server/storage/storage.ts';
import { ensureProject } from '../kit/fill.ts';

export type SingleStore = {
  path: string;
  synchronous: 'FULL' | 'NORMAL';
  /** All else as SQLite sets it by itself, a checkpoint after each 1,000 pages among it; by default
   * as the service sets it. */
  plain?: boolean;
};

/** The same rows and indexes as the service's, with a transaction for each save. */
export function openSingle({ path, synchronous, plain = false }: SingleStore) {
  const db = plain ? new Database(path, { create: true }) : openDatabase(path);
  if (!plain) applySetting(db, 'cache_size', writerCacheSize);
  db.run('PRAGMA journal_mode = WAL');
  migrate(db, path);
  db.run(`PRAGMA synchronous = ${synchronous}`);
  const projectId = ensureProject(db);
  const insert = prepareInsert(db);
  const passagesOf = createPassages({ reads: db, writes: db });
  const save = db.transaction((memory: StoredMemory, passages: Passage[]) => {
    const seq = insert(projectId, memory, memory.createdAt);
    passagesOf.insert({ projectId, userId: memory.userId, seq }, 0, passages);
  });
  return { save: save.immediate, close: () => db.close(true) };
}
