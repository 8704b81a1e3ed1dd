import type { ShortEngine } from '../../engine.ts';
import { createConnection } from '../connection.ts';
import { createShortEngine } from '../engine.ts';
import { cannotOpen } from '../errors.ts';
import { assertFinished, migrate } from '../migrate.ts';

/** Connects to the database. If `create` is set, creates missing tables. */
export async function openEngine(
  url: string,
  { create }: { create: boolean },
): Promise<ShortEngine & { close(): void }> {
  const connection = createConnection({ url, purpose: 'admin' });
  try {
    await migrate(connection, { create });
    await assertFinished(connection);
  } catch (error) {
    connection.close();
    throw cannotOpen(error);
  }
  return { ...createShortEngine({ connection }), close: () => connection.close() };
}
