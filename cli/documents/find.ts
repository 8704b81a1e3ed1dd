import type { Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, posix, relative, resolve } from 'node:path';
import type { Terminal } from '../terminal/terminal.ts';
import { extensionOf, isDocument } from './kind.ts';

/** A file to ingest, or a folder that cannot be read. */
export type Found = {
  path: string;
  /** Undefined for stdin and pipes, which have no name. */
  externalId: string | undefined;
  bytes: number;
  /** Whether an argument names the file itself, not its folder. */
  isNamed: boolean;
  /** The path without links of a file in a folder, where the file must still be when it is read. */
  realPath?: string;
};

/**
 * Returns the files of the arguments in order, without duplicates. Sorts the files of a folder.
 * `skipped` contains the kind of each file that is not a document, such as its extension.
 */
export async function findFiles(term: Terminal, args: string[]) {
  const skipped: string[] = [];
  const found = (await Array.fromAsync(args, (arg) => filesOf(term, arg, skipped))).flat();
  const byName = Map.groupBy(found, ({ path, externalId = path }) => externalId);
  return { files: [...byName.values()].flatMap((same) => same.slice(0, 1)), skipped };
}

async function filesOf(term: Terminal, arg: string, skipped: string[]): Promise<Found[]> {
  const externalId = externalIdOf(term, arg);
  // mutate-ignore constant: the size of stdin is unknown
  const named = { path: arg, externalId, bytes: 0, isNamed: true };
  if (arg === '-') return [{ ...named, externalId: undefined }];
  const found = await statOf(term, arg);
  if (found?.isDirectory()) {
    const root = await realpath(resolve(term.cwd, externalId));
    return Array.fromAsync(filesIn(term, externalId, skipped), (file) => ({
      ...file,
      realPath: join(root, relative(externalId, file.path)),
    }));
  }
  // A missing file is reported when it is read.
  const isFile = found === undefined || found.isFile();
  return [{ ...named, bytes: found?.size ?? 0, externalId: isFile ? externalId : undefined }];
}

/** Returns a file's external id, which is the same whether it is named or found in a folder. */
function externalIdOf({ platform }: Terminal, path: string): string {
  return posix.normalize(platform === 'win32' ? path.replaceAll('\\', '/') : path);
}

/** Yields the files of a folder in sorted order, except hidden files, node_modules and links. */
async function* filesIn(term: Terminal, folder: string, skipped: string[]): AsyncGenerator<Found> {
  term.interrupted.throwIfAborted();
  const about = (path: string, bytes = 0) => ({
    path,
    externalId: externalIdOf(term, path),
    bytes,
    isNamed: false,
  });
  const reading = readdir(resolve(term.cwd, folder), { withFileTypes: true });
  const entries = await reading.catch(() => undefined);
  // The error is reported when the folder is read like a file.
  if (entries === undefined) return yield about(folder);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(term, path, skipped);
    else if (entry.isSymbolicLink()) skipped.push('links');
    else if (!entry.isFile()) skipped.push('pipes and devices');
    else if (!isDocument(path)) skipped.push(extensionOf(path) || 'no extension');
    else yield about(path, (await statOf(term, path))?.size);
  }
}

function statOf(term: Terminal, path: string): Promise<Stats | undefined> {
  return stat(resolve(term.cwd, path)).catch(() => undefined);
}
