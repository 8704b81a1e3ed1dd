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
  const url = database ?? (io.env.MEMORY_DATABASE_URL || defaultDatabaseUrl);
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

/** Without the password that a database URL may hold. */
export function shownDatabase(url: string): string {
  return url.replace(/^sqlite:(\/\/)?/, '').replace(/\/\/([^:@/]*):[^@/]*@/, '//$1@');
}
