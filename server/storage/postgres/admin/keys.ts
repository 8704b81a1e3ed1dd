import type { ShortEngine } from '../../engine.ts';
import { createConnection } from '../connection.ts';
import { createShortEngine } from '../engine.ts';
import { cannotOpen } from '../errors.ts';
import { assertFinished, migrate, readVersion } from '../migrate.ts';

/** Connects to the database. If `create` is set, creates missing tables. */
export async function openEngine(
  url: string,
  { create }: { create: boolean },
): Promise<ShortEngine & { close(): void }> {
  const connection = createConnection({ url, purpose: 'admin' });
  try {
    // An older schema is left to the next start of a server. A running server of that version could
    // not be restarted after an upgrade.
    if ((await readVersion(connection)) === 0) await migrate(connection, { create });
    await assertFinished(connection);
  } catch (error) {
    connection.close();
    throw cannotOpen(error);
  }
  return { ...createShortEngine({ connection }), close: () => connection.close() };
}
