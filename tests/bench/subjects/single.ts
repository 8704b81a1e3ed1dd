import { migrate } from '../../../server/storage/sqlite/migrate.ts';
import { createPassages } from '../../../server/storage/sqlite/passages.ts';
import { prepareInsert } from '../../../server/storage/sqlite/row.ts';
import { openDatabase } from '../../../server/storage/sqlite/settings.ts';
import type { Passage, StoredMemory } from '../../../server/storage/storage.ts';
import { ensureProject } from '../kit/fill.ts';

/** The same rows and indexes as the service's, with a transaction for each save. */
export function openSingle(store: { path: string; synchronous: 'FULL' | 'NORMAL' }) {
  const db = openDatabase(store.path);
  migrate(db, store.path);
  db.run(`PRAGMA synchronous = ${store.synchronous}`);
  const projectId = ensureProject(db);
  const insert = prepareInsert(db);
  const passagesOf = createPassages({ reads: db, writes: db });
  const save = db.transaction((memory: StoredMemory, passages: Passage[]) => {
    const seq = insert(projectId, memory, memory.createdAt);
    passagesOf.insert({ projectId, userId: memory.userId, seq }, 0, passages);
  });
  return { save: save.immediate, close: () => db.close(true) };
}
