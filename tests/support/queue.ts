import { ingest, newUser, whenComplete } from './http.ts';
import { leased as leasedInPostgres } from './queue-postgres.ts';
import { leased as leasedInSqlite } from './queue-sqlite.ts';
import type { TestServer } from './server.ts';

/** A document that stays `processing` because the test holds the lease of its task. */
export type LeasedRecord = {
  memoryId: string;
  userId: string;
  externalId: string;
  /** Fails the task. Returns false if the lease is no longer held. */
  fail(errorMessage: string): Promise<boolean>;
};

/** Leases a memory's task under another owner. Returns a function that fails the task. */
export type Hold = (databaseUrl: string, memoryId: string) => Promise<LeasedRecord['fail']>;

const externalId = 'leased';

/**
 * Ingests a document, waits until it is processed, and then leases its task again. Leasing the task
 * earlier would race with the worker. On SQLite, a restarted server reclaims the task.
 */
export async function leaseRecord(server: TestServer): Promise<LeasedRecord> {
  const userId = newUser();
  const record = { userId, externalId, data: { text: 'leased text' } };
  const { memoryId } = await ingest(server, '/v1/ingest/document', record);
  await whenComplete(server, memoryId);
  return { memoryId, userId, externalId, fail: await holdTask(server, memoryId) };
}

/** Leases the task of a complete memory, which is then `processing`. */
export function holdTask({ databaseUrl }: TestServer, memoryId: string) {
  const hold = databaseUrl.startsWith('sqlite:') ? leasedInSqlite : leasedInPostgres;
  return hold(databaseUrl, memoryId);
}
