import { indexPassages } from '../../../server/memory/passages.ts';
import { migrate } from '../../../server/storage/sqlite/migrate.ts';
import { createPassages } from '../../../server/storage/sqlite/passages.ts';
import { insertMemory, insertValues } from '../../../server/storage/sqlite/row.ts';
import { openDatabase } from '../../../server/storage/sqlite/settings.ts';
import type { StoredMemory } from '../../../server/storage/storage.ts';
import { ensureProject } from '../kit/fill.ts';

/** The same rows and indexes as the service's, with a transaction for each save. */
export function openSingle(store: { path: string; synchronous: 'FULL' | 'NORMAL' }) {
  const db = openDatabase(store.path);
  migrate(db, store.path);
  db.run(`PRAGMA synchronous = ${store.synchronous}`);
  const projectId = ensureProject(db);
  const insert = db.prepare<{ seq: number }, (string | number | null)[]>(insertMemory);
  const passagesOf = createPassages(db);
  const save = db.transaction((memory: StoredMemory) => {
    const row = insert.get(...insertValues(projectId, memory, memory.createdAt));
    const passages = indexPassages(memory.content, memory.metadata);
    passagesOf.insert({ projectId, userId: memory.userId, seq: row?.seq ?? 0 }, 0, passages);
  });
  return { save: save.immediate, close: () => db.close(true) };
}
