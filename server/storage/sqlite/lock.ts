import { Database } from 'bun:sqlite';

/**
 * Holds the database for this server alone, until released or the process ends, however it ends:
 * the operating system drops the lock with the process. Admin commands do not take it.
 */
export function lockDatabase(path: string): { release(): void } {
  const lock = new Database(`${path}.lock`, { create: true });
  try {
    lock.run('PRAGMA busy_timeout = 0');
    lock.run('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close(false);
    throw new Error(
      `another server is already running on ${path}. Stop it first, or give this one a database ` +
        'of its own with MEMORY_DATABASE_URL.',
      { cause: error },
    );
  }
  return { release: () => lock.close(false) };
}
