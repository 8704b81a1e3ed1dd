import { Database } from 'bun:sqlite';
import { indexPassages } from '../../../server/memory/passages.ts';
import { migrate } from '../../../server/storage/sqlite/migrate.ts';
import { createPassages } from '../../../server/storage/sqlite/passages.ts';
import { prepareInsert } from '../../../server/storage/sqlite/row.ts';
import {
  applySetting,
  openDatabase,
  writerCacheSize,
} from '../../../server/storage/sqlite/settings.ts';

export type StoreOptions = {
  path: string;
  synchronous: 'FULL' | 'NORMAL';
  /** Every other setting is SQLite's default, not the service's. */
  sqliteDefaults?: boolean;
};

export type PlainMemory = {
  id: string;
  userId: string;
  content: string;
  /** JSON text. */
  metadata: string;
  createdAt: number;
};

export type SingleCommitStore = { save(memory: PlainMemory): void; close(): void };

/** Stores the same rows and indexes as the service, with one transaction per save. */
export function openStore({
  path,
  synchronous,
  sqliteDefaults = false,
}: StoreOptions): SingleCommitStore {
  const db = sqliteDefaults ? new Database(path, { create: true }) : openDatabase(path);
  if (!sqliteDefaults) applySetting(db, 'cache_size', writerCacheSize);
  db.run('PRAGMA journal_mode = WAL');
  migrate(db, path);
  db.run(`PRAGMA synchronous = ${synchronous}`);
  db.run('INSERT INTO projects (name) VALUES (?) ON CONFLICT DO NOTHING', ['default']);
  const projectId = 1;
  const insert = prepareInsert(db);
  const passages = createPassages({ reads: db, writes: db });
  const save = db.transaction((memory: PlainMemory) => {
    const row = { ...memory, type: 'memory' as const, source: null, externalId: null };
    const seq = insert(projectId, row, memory.createdAt);
    const of = { projectId, userId: memory.userId, seq };
    passages.insert(of, 0, indexPassages(memory.content, memory.metadata));
  });
  return { save: save.immediate, close: () => db.close(true) };
}
