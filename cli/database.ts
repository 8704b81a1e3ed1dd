import { resolve } from 'node:path';
import type { Admin } from '../server/admin.ts';
import { InvalidSettingsError, MissingDatabaseError } from '../server/errors.ts';
import { Option } from './commander.ts';
import { CliError, errorText, usageError } from './errors.ts';
import type { Terminal } from './terminal/terminal.ts';

const defaultDatabaseUrl = 'sqlite:./data/memory.db';

export const databaseOption = new Option(
  '--database <path or url>',
  `the database (env: MEMORY_DATABASE_URL, default: ${defaultDatabaseUrl})`,
);

/**
 * Opens a database to manage its keys, whether or not a server is running. With `make`, creates the
 * database if it does not exist and --database names it. `isNew` is true if this call created it.
 */
export function withAdmin<Result>(
  term: Terminal,
  database: string | undefined,
  work: (admin: Admin, isNew: boolean) => Promise<Result>,
  { make = false } = {},
): Promise<Result> {
  return onDatabase(term, database, async ({ openAdmin }, url) => {
    const found = await openAdmin(url, { create: false }).catch((error) => {
      const mayCreate = make && database !== undefined && error instanceof MissingDatabaseError;
      if (!mayCreate) throw error;
      return null;
    });
    const admin = found ?? (await openAdmin(url, { create: true }));
    try {
      return await work(admin, found === null);
    } finally {
      await admin.close();
    }
  });
}

export async function onDatabase<Result>(
  term: Terminal,
  database: string | undefined,
  run: (admin: typeof import('../server/admin.ts'), url: string) => Promise<Result>,
): Promise<Result> {
  // Imported on demand, to keep other commands fast.
  const admin = await import('../server/admin.ts');
  const url = databaseUrlOf(term, database);
  try {
    return await run(admin, url);
  } catch (error) {
    if (!(error instanceof MissingDatabaseError)) {
      throw databaseFailure(error, 'database_unavailable');
    }
    const message = `No database found at ${shownDatabase(term, url)}.`;
    throw new CliError('database_missing', message, where);
  }
}

/** Describes an error of the server. `option` says where the URL of the database comes from. */
export function databaseFailure(
  error: unknown,
  code: string,
  option = 'MEMORY_DATABASE_URL or --database',
  hint?: string,
): CliError {
  if (error instanceof CliError) return error;
  const message = errorText(error)
    .replace('MEMORY_DATABASE_URL', option)
    .replace(/^E[A-Z]+: (.*), (?:lstat|mkdir) (.*)/, 'the database cannot be opened: $1: $2');
  if (error instanceof InvalidSettingsError) return usageError(message);
  return new CliError(code, message, hint);
}

const where =
  "Run this command in the server's folder, or pass --database <path>. To create a database: memory serve";

/** Treats a plain path as an SQLite file. A single letter before a colon is a Windows drive. */
export function databaseUrlOf({ env }: Terminal, flag: string | undefined): string {
  const database = flag ?? (env.MEMORY_DATABASE_URL || defaultDatabaseUrl);
  return /^[a-z][a-z0-9+.-]+:/i.test(database) ? database : `sqlite:${database}`;
}

/** Returns the absolute path, or the URL without its password. The last `@` precedes the host. */
export function shownDatabase({ cwd }: Terminal, url: string): string {
  if (url.startsWith('sqlite:')) return resolve(cwd, url.replace(/^sqlite:(\/\/)?/, ''));
  return url.replace(/\/\/([^:/]*):.*@/, '//$1@').replace(/([?&]password=)[^&]*/, '$1…');
}
