import type { KeyAdmin } from '../../admin-storage.ts';
import { createConnection } from '../connection.ts';
import { cannotOpen, written } from '../errors.ts';
import { assertFinished, migrate } from '../migrate.ts';
import { listKeys } from '../reader/memories.ts';
import { createKeyWrites } from '../writer/keys.ts';

/** Connects to the database. If `create` is set, creates missing tables. */
export async function openKeyAdmin(
  url: string,
  { create }: { create: boolean },
): Promise<KeyAdmin> {
  const connection = createConnection({ url, purpose: 'admin' });
  try {
    await migrate(connection, { create });
    await assertFinished(connection.run);
  } catch (error) {
    connection.close();
    throw cannotOpen(error);
  }
  return {
    ...createKeyWrites(connection),
    listKeys: () => written(listKeys(connection.run)),
    close: () => connection.close(),
  };
}
