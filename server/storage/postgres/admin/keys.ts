import type { KeyAdmin } from '../../admin-storage.ts';
import { createKey, listKeys, revokeKey } from '../../operations/keys.ts';
import { QueueLimit } from '../../queue-limit.ts';
import { createConnection } from '../connection.ts';
import { createShortEngine } from '../engine.ts';
import { cannotOpen } from '../errors.ts';
import { assertFinished, migrate } from '../migrate.ts';
import { createShortTx } from '../tx.ts';
import { createWriteQueue } from '../write-queue.ts';

/** Connects to the database. If `create` is set, creates missing tables. */
export async function openKeyAdmin(
  url: string,
  { create }: { create: boolean },
): Promise<KeyAdmin> {
  const connection = createConnection({ url, purpose: 'admin' });
  try {
    await migrate(connection, { create });
    await assertFinished(connection);
  } catch (error) {
    connection.close();
    throw cannotOpen(error);
  }
  const engine = createShortEngine({
    writes: createWriteQueue({ connections: [connection] }),
    tx: createShortTx(connection),
    queueLimit: new QueueLimit(),
  });
  return {
    createKey: (key) => engine.write(createKey, key),
    listKeys: () => engine.readShort(listKeys, undefined),
    revokeKey: (revoked) => engine.write(revokeKey, revoked),
    close: () => connection.close(),
  };
}
