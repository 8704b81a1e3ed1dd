import { limits } from '../../sdk/contract/limits.ts';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { newDatabase, openTransaction, query, type TestDatabase } from '../support/postgres.ts';
import { recordStatements } from '../support/statement-recorder.ts';
import { newProject, type Opened, type OpenStorage, smallQueueRecords } from './fixtures.ts';

type OpenedSchema = Opened & { [Symbol.asyncDispose](): Promise<void> };

type SchemaOptions = {
  smallQueue?: boolean;
  /** By default, a new schema. It is dropped on disposal, if it can be. */
  database?: { url: string; drop?(): Promise<void> };
  open?: (url: string) => Promise<Storage>;
};

/** Opens a PostgreSQL storage. Its disposal drops the database. */
export async function openInSchema(options: SchemaOptions = {}): Promise<OpenedSchema> {
  const { smallQueue = false, open = openStorage } = options;
  const database: SchemaOptions['database'] = options.database ?? (await newDatabase());
  const { pendingRecords } = limits;
  // This backend checks the limit in the current thread.
  if (smallQueue) Object.assign(limits, { pendingRecords: smallQueueRecords });
  const opened: OpenedSchema = {
    url: database.url,
    storage: await open(database.url),
    async reopen() {
      await opened.storage.close();
      opened.storage = await open(database.url);
      return opened.storage;
    },
    async dispose() {
      Object.assign(limits, { pendingRecords });
      await opened.storage.close();
      await database.drop?.();
    },
    async endLeases(owner) {
      const text = `UPDATE tasks SET leased_until = 0
        WHERE $1::text IS NULL OR lease_owner = $1`;
      await query(database.url, text, [owner ?? null]);
    },
    [Symbol.asyncDispose]: () => opened.dispose(),
  };
  return opened;
}

/** Opens a storage that records the statements that it sends. */
export async function openRecorded(database: TestDatabase) {
  const recorder = recordStatements(database.url);
  const storage = await openStorage(recorder.url);
  return {
    database,
    recorder,
    storage,
    project: await newProject({ storage }),
    async [Symbol.asyncDispose]() {
      await storage.close();
      recorder.stop();
      await database.drop();
    },
  };
}

/** Opens a storage whose timers, such as that of the heartbeat, run every `ms`. */
export async function openWithFastTimers(url: string, ms: number): Promise<Storage> {
  const { setInterval: original } = globalThis;
  const fast = (act: () => void) => original(act, ms);
  globalThis.setInterval = Object.assign(fast, original);
  try {
    return await openStorage(url);
  } finally {
    globalThis.setInterval = original;
  }
}

/** Opens a PostgreSQL storage for the conformance suite. */
export const openPostgresStorage: OpenStorage = openInSchema;

/** Locks the user's row in an open transaction. Returns a function that releases the lock. */
export function lockUser(url: string, userId: string): Promise<() => Promise<void>> {
  return openTransaction(url, 'SELECT 1 FROM users WHERE user_id = $1 FOR UPDATE', [userId]);
}
