import type { Dirent, Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { posix, resolve } from 'node:path';
import { CliError } from '../failure.ts';
import type { Io } from '../io.ts';

/**
 * A file, or a folder that is not entered: by a link, or with the reason why it does not open. Or a
 * pipe or device, which could be read forever.
 */
export type Step = { path: string; isLinkedFolder?: true; isPipe?: true; error?: CliError };

/**
 * Every file at most so many levels below a folder, sorted, but for what is hidden or installed.
 * Links to folders are not followed: they may lead in a circle.
 */
export async function* walkFolder(io: Io, folder: string, levels: number): AsyncGenerator<Step> {
  io.interrupted.throwIfAborted();
  if (levels < 1) return;
  const entries = await entriesOf(io, folder);
  if (entries instanceof CliError) return yield { path: folder, error: entries };
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const joined = posix.join(folder, entry.name);
    // By that name alone it would be stdin.
    const path = joined === '-' ? './-' : joined;
    if (entry.isDirectory()) yield* walkFolder(io, path, levels - 1);
    else if (entry.isFile()) yield { path };
    else if (entry.isSymbolicLink()) yield* followLink(io, path);
    else yield { path, isPipe: true };
  }
}

/** A link that leads nowhere counts as a file: reading it says so. */
async function* followLink(io: Io, path: string): AsyncGenerator<Step> {
  const target = await statOf(io, path);
  if (target === undefined || target.isFile()) yield { path };
  else if (target.isDirectory()) yield { path, isLinkedFolder: true };
  else yield { path, isPipe: true };
}

/** Undefined where there is none. */
export function statOf(io: Io, path: string): Promise<Stats | undefined> {
  return stat(resolve(io.cwd, path)).catch(() => undefined);
}

async function entriesOf(io: Io, folder: string): Promise<Dirent[] | CliError> {
  try {
    const entries = await readdir(resolve(io.cwd, folder), { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // The folder before a pattern: where it is not, nothing matches.
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    const message = `The folder ${folder} may not be read.`;
    return new CliError({ code: 'file_not_readable', message });
  }
}
