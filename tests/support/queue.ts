import type { BatchAccepted } from '../../sdk/contract/ingest.ts';
import { sqlitePath } from '../../server/config.ts';
import { openSqlite } from '../../server/storage/sqlite/open.ts';
import type { Job, Storage } from '../../server/storage/storage.ts';
import { ask, bodyOf, getStatus, newUser } from './http.ts';
import type { TestServer } from './server.ts';
import { until } from './until.ts';

/** A document whose work the test has claimed, so that it stays `processing`. */
export type HeldRecord = {
  memoryId: string;
  userId: string;
  externalId: string;
  /** Ends the work as failed; false where it is no longer ours to end. */
  fail(errorMessage: string): Promise<boolean>;
};

const heldId = 'held';

/** Accepts a document and holds it back. The server's worker keeps away from what is claimed. */
export async function holdRecord(server: TestServer): Promise<HeldRecord> {
  const storage = openSqlite(sqlitePath(server.databaseUrl), { exclusive: false });
  const userId = newUser();
  // The worker may be quicker; then the same record is sent again.
  const job = await until(() => claimLast(server, storage, userId));
  await storage.close();
  return {
    memoryId: job.memoryId,
    userId,
    externalId: heldId,
    async fail(errorMessage) {
      const again = openSqlite(sqlitePath(server.databaseUrl), { exclusive: false });
      const failed = await again.failJob({ ...job, now: Date.now(), retryAt: null, errorMessage });
      await again.close();
      // For the server that was another process: its reads may be a moment behind.
      if (failed)
        await until(async () => (await getStatus(server, job.memoryId)).status === 'failed');
      return failed;
    },
  };
}

/** Sends the record behind others that keep the worker busy, and claims it before the worker. */
async function claimLast(server: TestServer, storage: Storage, userId: string) {
  const document = (user: string, externalId: string) => {
    return { type: 'document', userId: user, externalId, data: { text: 'held back' } };
  };
  const others = Array.from({ length: 300 }, (_, index) => document(`${userId}-o`, `${index}`));
  const body = { items: [...others, document(userId, heldId)] };
  const { items } = bodyOf<BatchAccepted>(
    await ask(server, 'POST', '/v1/ingest/batch', { body }),
    202,
  );
  const jobs = await storage.claimJobs({
    now: Date.now(),
    horizon: Date.now() + 60_000,
    limit: 1_000,
  });
  const isHeld = ({ memoryId }: Job) => memoryId === items.at(-1)?.memoryId;
  await Promise.all(jobs.filter((job) => !isHeld(job)).map((job) => storage.releaseJob(job)));
  return jobs.find(isHeld) ?? null;
}
