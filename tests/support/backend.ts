import { temporaryFolder } from './folder.ts';
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
  const folder = temporaryFolder();
  return {
    url: `sqlite:${folder.file('memory.db')}`,
    remove: async () => folder[Symbol.dispose](),
  };
}
