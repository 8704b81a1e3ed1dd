import type { KeyAdmin } from '../../admin-storage.ts';
import type { WriteOperation } from '../../engine.ts';
import { createKey, listKeys, revokeKey } from '../../operations/keys.ts';
import { QueueLimit } from '../../queue-limit.ts';
import { createConnection } from '../connection.ts';
import { writeTxOf } from '../engine.ts';
import { cannotOpen, notRead, notStored } from '../errors.ts';
import { assertFinished, migrate } from '../migrate.ts';
import { runAlone } from '../transaction.ts';
import { createShortTx } from '../tx.ts';

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
  const queueLimit = new QueueLimit();

  async function write<Input, Result>(
    operation: WriteOperation<Input, Result>,
    input: Input,
  ): Promise<Result> {
    try {
      const session = await connection.session();
      return await runAlone(session, (tx) => operation.run(writeTxOf(tx, queueLimit), input));
    } catch (error) {
      throw notStored(error);
    }
  }

  return {
    createKey: (key) => write(createKey, key),
    async listKeys() {
      try {
        return await listKeys.run(createShortTx(connection), undefined);
      } catch (error) {
        throw notRead(error);
      }
    },
    revokeKey: (id, at) => write(revokeKey, { id, at }),
    close: () => connection.close(),
  };
}
