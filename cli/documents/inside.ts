import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import { CliError } from '../errors.ts';

/** Whether a path is in the folder. Both must be real paths, without links. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && !/^\.\.(?:$|[\\/])/.test(way);
}

function replaced(): CliError {
  const message = 'The file was replaced after it was found, and is no longer in its folder.';
  return new CliError('file_replaced', message);
}

/**
 * Opens a file that was found in a folder. Checks where the open file is, because another program
 * may have replaced the file or one of its folders with a link since.
 */
export async function openInside(folder: string, path: string): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a pipe would wait for a writer. Windows has no such flag.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if ((await file.stat()).isFile() && isInside(folder, await locate(file, path))) return file;
    throw replaced();
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Returns the real path of an open file. */
async function locate(file: FileHandle, path: string): Promise<string> {
  const known = await readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  if (known !== undefined) return known;
  const real = await realpath(path);
  const [opened, found] = await Promise.all([file.stat(), lstat(real)]);
  if (opened.dev === found.dev && opened.ino === found.ino) return real;
  throw replaced();
}
