import type { KeyAdmin } from '../../admin-storage.ts';
import { createKey, listKeys, revokeKey } from '../../operations/keys.ts';
import { createConnection } from '../connection.ts';
import { createShortEngine } from '../engine.ts';
import { cannotOpen } from '../errors.ts';
import { assertFinished, migrate } from '../migrate.ts';

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
  const engine = createShortEngine({ connection });
  return {
    createKey: (key) => engine.write(createKey, key),
    listKeys: () => engine.readShort(listKeys, undefined),
    revokeKey: (revoked) => engine.write(revokeKey, revoked),
    close: () => connection.close(),
  };
}
