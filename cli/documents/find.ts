import type { Dirent, Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { posix, resolve } from 'node:path';
import { CliError, errorCode, usageError } from '../errors.ts';
import { leadsNowhere } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { isInside } from './inside.ts';
import { extensionOf, isDocument, isNeverText } from './kind.ts';

/** A file to ingest or, with `error`, an argument or folder that could not be read. */
export type Found = {
  path: string;
  /** Undefined for stdin and pipes, which have no name. */
  externalId: string | undefined;
  bytes: number;
  /** Whether an argument names the file itself, not its folder or a pattern. */
  isNamed: boolean;
  /** The real path of the folder in which the file was found, and must still be when it is read. */
  folder?: string | undefined;
  /** The kind of a file that is not ingested, for example its extension. */
  skipped?: string;
  error?: CliError;
};

/** The kind of links to targets outside their folder. */
export const outsideLink = 'links to targets outside the folder';
const linkedFolder = 'linked folders';

/** Returns the files of the arguments in order, without duplicates. Sorts the files of a folder. */
export async function findFiles(term: Terminal, args: string[]): Promise<Found[]> {
  const found = (await Array.fromAsync(args, (arg) => filesOf(term, arg))).flat();
  const nameOf = ({ path, externalId = path, skipped = '' }: Found) => `${skipped}:${externalId}`;
  return [...Map.groupBy(found, nameOf).values()].flatMap((same) => same.slice(0, 1));
}

/** Returns a file's external id, which is the same whether it is named or found in a folder. */
export function externalIdOf({ platform }: Pick<Terminal, 'platform'>, path: string): string {
  return posix.normalize(platform === 'win32' ? path.replaceAll('\\', '/') : path);
}

async function filesOf(term: Terminal, arg: string): Promise<Found[]> {
  if (arg === '') throw usageError('A file name must not be empty.');
  const externalId = externalIdOf(term, arg);
  // mutate-ignore constant: the size of stdin is unknown
  const named = { path: arg, externalId, bytes: 0, isNamed: true };
  if (arg === '-') return [{ ...named, externalId: undefined }];
  const found = await statOf(term, arg);
  if (found?.isDirectory()) {
    const walk = { root: externalId, levels: all, matches: () => true, takes: isDocument };
    return filesIn(term, walk, `No documents in the folder ${arg}`);
  }
  if (found === undefined && wildcard.test(arg)) {
    return filesIn(term, walkFor(term, externalId), `No documents match ${arg}`);
  }
  // A missing file is reported when it is read.
  const isFile = found === undefined || found.isFile();
  return [{ ...named, bytes: found?.size ?? 0, externalId: isFile ? externalId : undefined }];
}

type Walk = {
  root: string;
  /** The real path of the root; undefined if there is no such folder. */
  folder?: string | undefined;
  /** The maximum depth below the root. */
  levels: number;
  matches: (path: string) => boolean;
  /** Whether to ingest a matching file. Other matching files are counted as skipped. */
  takes: (path: string) => boolean;
};

const all = Number.POSITIVE_INFINITY;
const wildcard = /[*?[{]/;

/** Returns the walk for a pattern. The root is the folder before the first wildcard. */
function walkFor(term: Terminal, pattern: string): Walk {
  const parts = pattern.split('/');
  const fixed = parts.findIndex((part) => wildcard.test(part));
  const glob = new Bun.Glob(pattern);
  return {
    root: parts.slice(0, fixed).join('/') || (pattern.startsWith('/') ? '/' : '.'),
    levels: pattern.includes('**') ? all : parts.length - fixed,
    matches: (path) => glob.match(externalIdOf(term, path)),
    takes: (path) => !isNeverText(path),
  };
}

async function filesIn(term: Terminal, walk: Walk, none: string): Promise<Found[]> {
  const folder = await realpath(resolve(term.cwd, walk.root)).catch(() => undefined);
  const found = await Array.fromAsync(walkFolder(term, { ...walk, folder }, walk.root));
  if (found.some(({ skipped }) => skipped === undefined)) return found;
  const links = [outsideLink, linkedFolder];
  const count = found.filter(({ skipped = '' }) => !links.includes(skipped)).length;
  const ignored = count === 0 ? '' : ` (files of unsupported types: ${count})`;
  const error = new CliError('file_not_found', `${none}${ignored}.`);
  return [...found, { ...unnamed(term, walk.root), error }];
}

function unnamed(term: Terminal, path: string): Found {
  return { path, externalId: externalIdOf(term, path), bytes: 0, isNamed: false };
}

/**
 * Yields the files of a folder in sorted order, except hidden files and node_modules. Follows links
 * to files inside the root. Does not follow links to folders, which may form a cycle, or links to
 * targets outside the root, which the user did not choose.
 */
async function* walkFolder(
  term: Terminal,
  walk: Walk,
  folder: string,
  level = 1,
): AsyncGenerator<Found> {
  term.interrupted.throwIfAborted();
  if (level > walk.levels) return;
  const entries = await entriesOf(term, folder);
  if (entries instanceof CliError) return yield { ...unnamed(term, folder), error: entries };
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const joined = posix.join(folder, entry.name);
    // A bare `-` would mean stdin.
    const path = joined === '-' ? './-' : joined;
    if (entry.isDirectory()) {
      yield* walkFolder(term, walk, path, level + 1);
      continue;
    }
    const found = await fileAt(term, walk, path, entry.isSymbolicLink());
    if (found !== undefined) yield found;
  }
}

async function entriesOf(term: Terminal, folder: string): Promise<Dirent[] | CliError> {
  try {
    const entries = await readdir(resolve(term.cwd, folder), { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    // If the folder at the start of a pattern does not exist, nothing matches.
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return [];
    return new CliError('file_not_readable', `The folder ${folder} cannot be read.`);
  }
}

/** Returns undefined for a file that does not match. */
async function fileAt(
  term: Terminal,
  { folder, matches, takes }: Walk,
  path: string,
  isLink: boolean,
): Promise<Found | undefined> {
  const about = { ...unnamed(term, path), folder };
  if (isLink) {
    const target = await realpath(resolve(term.cwd, path)).catch(() => undefined);
    if (target === undefined) return { ...about, error: leadsNowhere(path) };
    if (folder === undefined || !isInside(folder, target))
      return { ...about, skipped: outsideLink };
    if ((await statOf(term, path))?.isDirectory()) return { ...about, skipped: linkedFolder };
  }
  if (!matches(path)) return undefined;
  const found = await statOf(term, path);
  if (found && !found.isFile()) return { ...about, skipped: 'pipes and devices' };
  if (!takes(path)) return { ...about, skipped: extensionOf(path) || 'no extension' };
  return { ...about, bytes: found?.size ?? 0 };
}

function statOf(term: Terminal, path: string): Promise<Stats | undefined> {
  return stat(resolve(term.cwd, path)).catch(() => undefined);
}
