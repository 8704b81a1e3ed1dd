import type { Dirent, Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, posix, relative, resolve } from 'node:path';
import { CliError, errorCode, usageError } from '../errors.ts';
import { leadsNowhere } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { extensionOf, isDocument, isNeverText } from './kind.ts';

/** A file to ingest or, with `error`, an argument or folder that could not be read. */
export type Found = {
  path: string;
  /** Undefined for stdin and pipes, which have no name. */
  externalId: string | undefined;
  bytes: number;
  /** Whether an argument names the file, instead of a folder or a pattern. */
  isNamed: boolean;
  error?: CliError;
};

export type Search = {
  /** `end` is the sum of the sizes up to and including this file, in bytes. */
  files: (Found & { end: number })[];
  totalBytes: number;
  skipped: Map<string, number>;
  /** Links to targets outside their folder, which are not followed. */
  outside: Set<string>;
};

/** Returns the files of the arguments in order, without duplicates. Folders are sorted. */
export async function findFiles(term: Terminal, args: string[]): Promise<Search> {
  const search: Search = { files: [], totalBytes: 0, skipped: new Map(), outside: new Set() };
  const names = new Set<string>();
  for (const arg of args) {
    for await (const found of filesOf(term, arg, search)) {
      const name = found.externalId ?? found.path;
      if (names.has(name)) continue;
      names.add(name);
      search.totalBytes += found.bytes;
      search.files.push({ ...found, end: search.totalBytes });
    }
  }
  return search;
}

export function skip({ skipped }: Search, kind: string): void {
  skipped.set(kind, (skipped.get(kind) ?? 0) + 1);
}

/** Returns the external id of a file, whether it was named or found in a folder. */
export function externalIdOf({ platform }: Pick<Terminal, 'platform'>, path: string): string {
  return posix.normalize(platform === 'win32' ? path.replaceAll('\\', '/') : path);
}

async function* filesOf(term: Terminal, arg: string, search: Search): AsyncGenerator<Found> {
  if (arg === '') throw usageError('A file name must not be empty.');
  const externalId = externalIdOf(term, arg);
  const named = { path: arg, externalId, bytes: 0, isNamed: true };
  if (arg === '-') return yield { ...named, externalId: undefined };
  const found = await statOf(term, arg);
  if (found?.isDirectory()) {
    const none = `No documents in the folder ${arg}`;
    const walk = { folder: externalId, levels: all, isMeant: () => true, takes: isDocument, none };
    yield* filesIn(term, search, walk);
  } else if (found === undefined && /[*?[{]/.test(arg)) {
    const glob = new Bun.Glob(externalId);
    const isMeant = (path: string) => glob.match(externalIdOf(term, path));
    const takes = (path: string) => !isNeverText(path);
    const none = `No documents match ${arg}`;
    yield* filesIn(term, search, { ...beginOf(externalId), isMeant, takes, none });
  } else {
    // A missing file is reported when it is read.
    const isFile = found === undefined || found.isFile();
    yield { ...named, bytes: found?.size ?? 0, externalId: isFile ? externalId : undefined };
  }
}

const all = Number.POSITIVE_INFINITY;

/** Returns the folder before the first wildcard of a pattern, and the maximum depth of a match. */
function beginOf(pattern: string): { folder: string; levels: number } {
  const parts = pattern.split('/');
  const fixed = parts.findIndex((part) => /[*?[{]/.test(part));
  const folder = parts.slice(0, fixed).join('/') || (pattern.startsWith('/') ? '/' : '.');
  return { folder, levels: pattern.includes('**') ? all : parts.length - fixed };
}

type Walk = {
  folder: string;
  levels: number;
  isMeant: (path: string) => boolean;
  takes: (path: string) => boolean;
  none: string;
};

async function* filesIn(term: Terminal, search: Search, walk: Walk): AsyncGenerator<Found> {
  const { folder, levels, isMeant, takes, none } = walk;
  let [found, skipped] = [0, 0];
  for await (const { path, kind, error } of walkFolder(term, folder, levels)) {
    const externalId = externalIdOf(term, path);
    const about = { path, externalId, bytes: 0, isNamed: false };
    if (kind === 'link outside') search.outside.add(externalId);
    else if (kind === 'linked folder') skip(search, 'linked folders');
    else if (error !== undefined) {
      found += 1;
      yield { ...about, error };
    } else if (kind === 'file' && isMeant(path) && takes(path)) {
      found += 1;
      yield { ...about, bytes: (await statOf(term, path))?.size ?? 0 };
    } else if (isMeant(path)) {
      skipped += 1;
      const named = extensionOf(path) || 'no extension';
      skip(search, kind === 'pipe' ? 'pipes and devices' : named);
    }
  }
  if (found > 0) return;
  const ignored = skipped === 0 ? '' : ` (${skipped} of unsupported types)`;
  const error = new CliError('file_not_found', `${none}${ignored}.`);
  yield { path: folder, externalId: folder, bytes: 0, isNamed: false, error };
}

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
async function* walkFolder(
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

function statOf(term: Terminal, path: string): Promise<Stats | undefined> {
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
