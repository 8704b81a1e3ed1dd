import { isAbsolute } from 'node:path';
import type { Admin } from '../server/admin.ts';
import { CliError } from './client/errors.ts';
import { Option } from './commander.ts';
import type { Terminal } from './terminal/terminal.ts';

export const defaultDatabaseUrl = 'sqlite:./data/memory.db';

export const databaseOption = new Option(
  '--database <path or url>',
  `where the data is (env: MEMORY_DATABASE_URL, default: ${defaultDatabaseUrl})`,
);

type AdminModule = typeof import('../server/admin.ts');

/** Works on the database itself, beside a running server or without one. There has to be one. */
export function withAdmin<Result>(
  term: Terminal,
  database: string | undefined,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  return onDatabase(term, database, async ({ openAdmin }, url) => {
    const admin = await openAdmin(url, { create: false }).catch(cannotOpen(url, database));
    return closing(admin, work);
  });
}

/** The same, but a path given by the flag may be one of a new database; `work` learns which. */
export function withAdminOrNew<Result>(
  term: Terminal,
  database: string | undefined,
  work: (admin: Admin, isNew: boolean) => Promise<Result>,
): Promise<Result> {
  return onDatabase(term, database, async ({ openAdmin }, url) => {
    const there = await openAdmin(url, { create: false }).catch((error) => {
      if (isMissing(error) && database === undefined)
        throw databaseMissing(term, url, howToMakeOne);
      if (isMissing(error)) return null;
      return cannotOpen(url, database)(error);
    });
    const admin =
      there ?? (await openAdmin(url, { create: true }).catch(cannotOpen(url, database)));
    return closing(admin, (opened) => work(opened, there === null));
  });
}

async function closing<Result>(admin: Admin, work: (admin: Admin) => Promise<Result>) {
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

/** Runs one of the administrator's acts on the whole database, named by flag or environment. */
export async function onDatabase<Result>(
  term: Terminal,
  database: string | undefined,
  act: (admin: AdminModule, url: string) => Promise<Result>,
): Promise<Result> {
  // Loaded here so that no other command pays for it.
  const admin = await import('../server/admin.ts');
  const url = databaseUrlOf(term, database);
  try {
    return await act(admin, url);
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (isMissing(error)) throw databaseMissing(term, url);
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError({ code: 'database_unavailable', message: asGiven(message, database) });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('there is no database at ');
}

const howToMakeOne =
  'If it is elsewhere: --database <path>. A new one is made by: memory serve\n' +
  'or by: memory keys create --database <path>';

const howToFindIt =
  'Name the one of the server by --database <path>, or run this where the server runs.';

function databaseMissing({ cwd }: Terminal, url: string, hint = howToFindIt): CliError {
  const path = shownDatabase(url);
  const from = isAbsolute(path) ? '' : ` (relative to this folder, ${cwd})`;
  return new CliError({
    code: 'database_missing',
    message: `There is no database at ${path}${from}.`,
    hint,
  });
}

function cannotOpen(url: string, flag: string | undefined): (error: unknown) => never {
  return (error) => {
    if (isMissing(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError({
      code: 'database_unavailable',
      message: `Cannot open the database ${shownDatabase(url)}: ${asGiven(why, flag)}`,
      hint: 'Keys are made where the server runs: same folder, or the same --database.',
    });
  };
}

export function databaseUrlOf(term: Terminal, database: string | undefined): string {
  return toUrl(database ?? (term.env.MEMORY_DATABASE_URL || defaultDatabaseUrl));
}

/** What the server says of its settings, under the name by which they were given. */
export function asGiven(message: string, flag: string | undefined): string {
  return flag === undefined ? message : message.replace(/\bMEMORY_DATABASE_URL\b/, '--database');
}

/** A path alone is one of an SQLite file. A single letter before a colon is a drive. */
function toUrl(database: string): string {
  return /^[a-z][a-z0-9+.-]+:/i.test(database) ? database : `sqlite:${database}`;
}

/** Without the password that a database URL may hold. */
export function shownDatabase(url: string): string {
  return url.replace(/^sqlite:(\/\/)?/, '').replace(/\/\/([^:@/]*):[^@/]*@/, '//$1@');
}
