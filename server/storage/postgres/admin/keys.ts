import type { KeyAdmin } from '../../admin-storage.ts';
import { createConnection } from '../connection.ts';
import { cannotOpen, notStored } from '../errors.ts';
import { assertFinished, migrate, readVersion } from '../migrate.ts';
import { listKeys } from '../reader/memories.ts';
import { createKeyWrites } from '../writer/keys.ts';

/** Connects to the database. If `create` is set, creates missing tables. */
export async function openKeyAdmin(
  url: string,
  { create }: { create: boolean },
): Promise<KeyAdmin> {
  const connection = createConnection({ url, purpose: 'admin' });
  try {
    if (!create && (await readVersion(connection.run)) === 0) {
      throw new Error('no database of this service found at this address; check the URL');
    }
    await migrate(connection);
    await assertFinished(connection.run);
  } catch (error) {
    connection.close();
    throw cannotOpen(error);
  }
  const keys = createKeyWrites(connection);

  async function written<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      throw notStored(error);
    }
  }

  return {
    createKey: (key) => written(keys.createKey(key)),
    listKeys: () => written(listKeys(connection.run)),
    revokeKey: ({ id, at }) => written(keys.revokeKey(id, at)),
    close: () => connection.close(),
  };
}
