import type { Dirent, Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, posix, relative, resolve } from 'node:path';
import { CliError, errorCode } from '../errors.ts';
import { leadsNowhere } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A file to read, or a skipped entry with its kind or an error. */
type Step = {
  path: string;
  kind: 'file' | 'linked folder' | 'link outside' | 'pipe';
  error?: CliError;
};

/**
 * Yields the files up to `levels` below a folder, sorted, without hidden files and node_modules.
 * Follows links to files inside the folder. Does not follow links to folders, which may form a
 * cycle, or links to targets outside the folder, which the user did not choose.
 */
export async function* walkFolder(
  term: Terminal,
  folder: string,
  levels: number,
  root = folder,
): AsyncGenerator<Step> {
  term.interrupted.throwIfAborted();
  if (levels < 1) return;
  const entries = await entriesOf(term, folder);
  if (entries instanceof CliError) return yield { path: folder, kind: 'file', error: entries };
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const joined = posix.join(folder, entry.name);
    // A bare `-` would mean stdin.
    const path = joined === '-' ? './-' : joined;
    if (entry.isDirectory()) yield* walkFolder(term, path, levels - 1, root);
    else if (entry.isSymbolicLink()) yield await followLink(term, path, root);
    else yield { path, kind: entry.isFile() ? 'file' : 'pipe' };
  }
}

async function followLink(term: Terminal, path: string, root: string): Promise<Step> {
  const target = await realpath(resolve(term.cwd, path)).catch(() => undefined);
  if (target === undefined) return { path, kind: 'file', error: leadsNowhere(path) };
  const way = relative(await realpath(resolve(term.cwd, root)), target);
  if (isAbsolute(way) || /^\.\.(?:$|[\\/])/.test(way)) return { path, kind: 'link outside' };
  const found = await statOf(term, target);
  if (found?.isDirectory()) return { path, kind: 'linked folder' };
  return { path, kind: found?.isFile() ? 'file' : 'pipe' };
}

/** Returns undefined if the file does not exist. */
export function statOf(term: Terminal, path: string): Promise<Stats | undefined> {
  return stat(resolve(term.cwd, path)).catch(() => undefined);
}

async function entriesOf(term: Terminal, folder: string): Promise<Dirent[] | CliError> {
  try {
    const entries = await readdir(resolve(term.cwd, folder), { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    // If the folder before a pattern does not exist, nothing matches.
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return [];
    return new CliError('file_not_readable', `The folder ${folder} cannot be read.`);
  }
}
