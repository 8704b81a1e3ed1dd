import {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';

/* Finds out why a file cannot be used. SQLite often reports only that it cannot open the file. */

/** Returns the reason, or SQLite's error if neither permissions nor space are the reason. */
export function openFault(path: string, error: unknown): string {
  const fault = accessFault(path);
  if (fault !== null) return fault;
  if (statfsSync(dirname(path)).bavail === 0) return 'the disk is full';
  return error instanceof Error ? error.message : String(error);
}

/** Returns why the file cannot be opened or created, or null if permissions allow both. */
function accessFault(path: string): string | null {
  const folder = dirname(path);
  const inFolder = denial(folder, constants.R_OK | constants.X_OK);
  if (inFolder !== null) return `its folder cannot be read: ${inFolder}`;
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return 'it is a folder';
  for (const part of ['', '-wal', '-shm']) {
    const denied = existsSync(path + part) && denial(path + part, constants.R_OK | constants.W_OK);
    if (denied) return part === '' ? denied : `${path + part} cannot be used: ${denied}`;
  }
  const inCreating = denial(folder, constants.W_OK);
  return inCreating === null ? null : `its folder cannot be written to: ${inCreating}`;
}

/** Whether the file system is read-only. */
export function isReadOnly(folder: string): boolean {
  return codeOf(folder, constants.W_OK) === 'EROFS';
}

function denial(path: string, mode: number): string | null {
  const code = codeOf(path, mode);
  if (code === null) return null;
  if (code === 'EROFS') return 'the file system is read-only';
  if (code === 'ENOENT' || code === 'ENOTDIR') return `${path} does not exist`;
  if (code !== 'EACCES' && code !== 'EPERM') return code;
  const file = statSync(path, { throwIfNoEntry: false });
  return `permission denied${file === undefined ? '' : `: ${ownership(file)}`}`;
}

function codeOf(path: string, mode: number): string | null {
  try {
    accessSync(path, mode);
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** Like "owned by root, running as memory". */
export function ownership({ uid, mode }: Pick<Stats, 'uid' | 'mode'>): string {
  const owner = userName(uid);
  const user = userName(process.geteuid?.() ?? -1);
  if (owner !== user) return `owned by ${owner}, running as ${user}`;
  return `its mode is ${(mode & 0o777).toString(8)}, running as its owner ${user}`;
}

/** Does not use userInfo(), which returns the value of $USER. */
function userName(uid: number): string {
  try {
    const entries = readFileSync('/etc/passwd', 'utf8').split('\n');
    const name = entries.find((line) => line.split(':')[2] === String(uid))?.split(':')[0];
    if (name !== undefined) return name;
  } catch {
    // Not every system has this file.
  }
  return `user ${uid}`;
}
