import type { Admin } from '../server/admin.ts';
import { Option } from './commander.ts';
import { CliError } from './failure.ts';
import type { Io } from './io.ts';

export const defaultDatabaseUrl = 'sqlite:./data/memory.db';

export const databaseOption = new Option(
  '--database <url>',
  `where the data is (env: MEMORY_DATABASE_URL, default: ${defaultDatabaseUrl})`,
);

/** Works on the database itself, beside a running server or without one. */
export async function withAdmin<Result>(
  io: Io,
  database: string | undefined,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  // Loaded here so that no other command pays for it.
  const { openAdmin } = await import('../server/admin.ts');
  const url = databaseUrlOf(io, database);
  const admin = await openAdmin(url).catch((error) => {
    throw new CliError({
      code: 'database_unavailable',
      message: `Cannot open the database ${shownDatabase(url)}: ${error.message}`,
      hint: 'Keys are made where the server runs: same folder, or the same --database.',
    });
  });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

/** Runs one of the administrator's acts on the whole database, named by flag or environment. */
export async function onDatabase<Result>(
  io: Io,
  database: string | undefined,
  act: (admin: typeof import('../server/admin.ts'), url: string) => Promise<Result>,
): Promise<Result> {
  const admin = await import('../server/admin.ts');
  try {
    return await act(admin, databaseUrlOf(io, database));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError({ code: 'database_unavailable', message });
  }
}

function databaseUrlOf(io: Io, database: string | undefined): string {
  return database ?? (io.env.MEMORY_DATABASE_URL || defaultDatabaseUrl);
}

/** Without the password that a database URL may hold. */
export function shownDatabase(url: string): string {
  return url.replace(/^sqlite:(\/\/)?/, '').replace(/\/\/([^:@/]*):[^@/]*@/, '//$1@');
}
