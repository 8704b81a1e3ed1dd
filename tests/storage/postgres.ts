import { limits } from '../../sdk/contract/limits.ts';
import { openPostgres } from '../../server/storage/postgres/open.ts';
import { newDatabase, query } from '../support/postgres.ts';
import { type Opened, type OpenStorage, smallQueueRecords } from './fixtures.ts';

/** Opens a PostgreSQL storage in a new schema, for the conformance suite. */
export const openPostgresStorage: OpenStorage = async ({ smallQueue = false } = {}) => {
  const database = await newDatabase();
  const { pendingRecords } = limits;
  // This backend checks the limit in the current thread.
  if (smallQueue) Object.assign(limits, { pendingRecords: smallQueueRecords });
  const opened: Opened = {
    storage: await openPostgres(database.url),
    async reopen() {
      await opened.storage.close();
      opened.storage = await openPostgres(database.url);
      return opened.storage;
    },
    async dispose() {
      Object.assign(limits, { pendingRecords });
      await opened.storage.close();
      await database.drop();
    },
    async endLeases(owner) {
      const text = `UPDATE tasks SET leased_until = now() - interval '1 second'
        WHERE $1::text IS NULL OR lease_owner = $1`;
      await query(database.url, text, [owner ?? null]);
    },
  };
  return opened;
};
