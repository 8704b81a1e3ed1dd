import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shownPath } from '../terminal/text.ts';

/**
 * What the command line keeps for its user: which service to use, which project of each service,
 * and the keys: under the address of the service for the project `default`, with `#` and its name
 * behind that for another.
 */
export type Profile = {
  baseUrl?: string;
  projects?: Record<string, string>;
  keys: Record<string, ProfileKey>;
};

/** `firstRun` marks a key that a server made for itself; the next server may replace it. */
type ProfileKey = { apiKey: string; firstRun?: true };

type Place = Pick<Terminal, 'env' | 'home' | 'platform'>;

const lockTries = 200;
const lockPauseMs = 5;

export function profilePath({ env, home, platform }: Place): string {
  const folder =
    platform === 'win32'
      ? env.APPDATA || join(home, 'AppData', 'Roaming')
      : env.XDG_CONFIG_HOME || join(home, '.config');
  return join(folder, 'memory-service', 'profile.json');
}

/** The path as people write it. */
export function shownProfilePath(place: Place): string {
  return shownPath(place, profilePath(place));
}

export async function readProfile(term: Terminal): Promise<Profile> {
  const path = profilePath(term);
  return { keys: {}, ...parseProfile(readText(path), path) };
}

/**
 * Reads, changes and writes the profile, one process after the other: none may take back what
 * another has written. Gives whether there was something to change; null is nothing.
 */
export async function changeProfile(
  term: Terminal,
  change: (profile: Profile) => Profile | null,
): Promise<boolean> {
  // Loaded here because most commands only read.
  const { mkdir, rm, writeFile } = await import('node:fs/promises');
  const path = profilePath(term);
  const lock = `${path}.lock`;
  const take = () => writeFile(lock, '', { flag: 'wx' }).then(() => true, isTaken);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // One that stays that long is of a process that was killed.
  for (let tries = 0; tries < lockTries && !(await take()); tries += 1) {
    await Bun.sleep(lockPauseMs);
  }
  try {
    const changed = change(await readProfile(term));
    if (changed !== null) await writeProfile(path, changed);
    return changed !== null;
  } finally {
    await rm(lock, { force: true });
  }
}

function isTaken(error: unknown): false {
  if (codeOf(error) === 'EEXIST') return false;
  throw error;
}

/** By rename, so that a reader sees the old file or the new one, and no one else may read it. */
async function writeProfile(path: string, profile: Profile): Promise<void> {
  const { rename, rm, writeFile } = await import('node:fs/promises');
  const temporary = `${path}.${crypto.randomUUID()}`;
  try {
    await writeFile(temporary, `${JSON.stringify(profile, null, 2)}\n`, { mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return '{}';
    throw unreadable(path, error instanceof Error ? error.message : String(error));
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function parseProfile(text: string, path: string): Partial<Profile> {
  try {
    const profile = JSON.parse(text);
    const { baseUrl, projects = {}, keys = {} } = profile;
    const isRight =
      [profile, projects, keys].every(isObject) &&
      (baseUrl === undefined || /^https?:$/.test(new URL(baseUrl).protocol)) &&
      Object.values(projects).every((project) => typeof project === 'string') &&
      Object.values<{ apiKey?: unknown } | null>(keys).every(
        (key) => typeof key?.apiKey === 'string',
      );
    if (isRight) return profile;
  } catch {
    // Said below.
  }
  throw unreadable(path, 'it does not hold a profile');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unreadable(path: string, why: string): CliError {
  return new CliError({
    code: 'profile_unreadable',
    message: `The profile ${path} cannot be read: ${why}.`,
    hint: 'Correct or remove that file, or set MEMORY_BASE_URL and MEMORY_API_KEY.',
  });
}
