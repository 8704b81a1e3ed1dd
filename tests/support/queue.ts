import { ingest, newUser, whenComplete } from './http.ts';
import { held as heldInPostgres } from './queue-postgres.ts';
import { held as heldInSqlite } from './queue-sqlite.ts';
import type { TestServer } from './server.ts';

/** A document whose task the test holds under a lease of its own, so that it stays `processing`. */
export type HeldRecord = {
  memoryId: string;
  userId: string;
  externalId: string;
  /** Ends the task as failed; false where the lease is no longer held. */
  fail(errorMessage: string): Promise<boolean>;
};

/** Sets a memory's task back to running under another owner. Returns how to end it as failed. */
export type Hold = (databaseUrl: string, memoryId: string) => Promise<HeldRecord['fail']>;

const externalId = 'held';

/**
 * Ingests a document, lets the server process it, and then sets its task back to running under
 * another owner: so there is no race with the worker. A restart of the server on SQLite takes it
 * back.
 */
export async function holdRecord(server: TestServer): Promise<HeldRecord> {
  const userId = newUser();
  const record = { userId, externalId, data: { text: 'held back' } };
  const { memoryId } = await ingest(server, '/v1/ingest/document', record);
  await whenComplete(server, memoryId);
  const hold = server.databaseUrl.startsWith('sqlite:') ? heldInSqlite : heldInPostgres;
  const fail = await hold(server.databaseUrl, memoryId);
  return { memoryId, userId, externalId, fail };
}
