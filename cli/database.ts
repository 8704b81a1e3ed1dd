import { isAbsolute } from 'node:path';
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

type AdminModule = typeof import('../server/admin.ts');

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
  run: (admin: AdminModule, url: string) => Promise<Result>,
): Promise<Result> {
  // Imported on demand, to keep other commands fast.
  const admin = await import('../server/admin.ts');
  const url = databaseUrlOf(term, database);
  try {
    return await run(admin, url);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const path = shownDatabase(url);
    if (error instanceof MissingDatabaseError) {
      const from = isAbsolute(path) || url.includes('://') ? '' : ` (relative to ${term.cwd})`;
      throw new CliError('database_missing', `No database found at ${path}${from}.`, where);
    }
    const message = withFlag(errorText(error), database);
    if (error instanceof InvalidSettingsError) throw usageError(message);
    throw new CliError('database_unavailable', message);
  }
}

const where =
  "Run this command in the server's folder, or pass --database <path>. To create a database: memory serve";

/** Treats a plain path as an SQLite file. A single letter before a colon is a Windows drive. */
export function databaseUrlOf({ env }: Terminal, flag: string | undefined): string {
  const database = flag ?? (env.MEMORY_DATABASE_URL || defaultDatabaseUrl);
  return /^[a-z][a-z0-9+.-]+:/i.test(database) ? database : `sqlite:${database}`;
}

/** Replaces the name of the setting in a server message with the flag, if the flag was used. */
export function withFlag(message: string, flag: string | undefined): string {
  return flag === undefined ? message : message.replace(/\bMEMORY_DATABASE_URL\b/, '--database');
}

/** Removes the password that a database URL may contain. The last `@` precedes the host. */
export function shownDatabase(url: string): string {
  return url
    .replace(/^sqlite:(\/\/)?/, '')
    .replace(/\/\/([^:/]*):.*@/, '//$1@')
    .replace(/([?&]password=)[^&]*/, '$1…');
}
