import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDatabase } from './postgres.ts';

/** The backend of the test servers: SQLite, or PostgreSQL with TEST_BACKEND=postgres. */
export const backend = readBackend(process.env.TEST_BACKEND);

function readBackend(name = ''): 'sqlite' | 'postgres' {
  if (name === '' || name === 'sqlite') return 'sqlite';
  if (name === 'postgres') return 'postgres';
  throw new Error(`TEST_BACKEND must be sqlite or postgres, not ${name}`);
}

export async function emptyDatabase(): Promise<{ url: string; remove(): Promise<void> }> {
  if (backend === 'postgres') {
    const { url, drop } = await newDatabase();
    return { url, remove: drop };
  }
  const folder = mkdtempSync(join(tmpdir(), 'memory-test-'));
  return {
    url: `sqlite:${join(folder, 'memory.db')}`,
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
