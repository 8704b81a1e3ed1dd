import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError, errorCode, errorText } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shownPath } from '../terminal/text.ts';

/**
 * The stored settings of a user: the service to use, the project to use with each service, and the
 * API keys. A key is stored under the URL of its service, followed by `#` and the project unless
 * the project is `default`.
 */
export type Profile = {
  baseUrl?: string;
  projects?: Record<string, string>;
  keys: Record<string, ProfileKey>;
};

/**
 * `firstRun` marks a key that a server created on its first start; the next server may replace it.
 */
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

/** Returns the path of the profile with `~` for the home directory. */
export function shownProfilePath(place: Place): string {
  return shownPath(place, profilePath(place));
}

export async function readProfile(term: Terminal): Promise<Profile> {
  const path = profilePath(term);
  try {
    const profile: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isProfile(profile)) return { ...profile, keys: profile.keys ?? {} };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return { keys: {} };
    if (errorCode(error) !== '') throw unreadable(path, errorText(error));
  }
  throw unreadable(path, 'its contents are not a valid profile');
}

/**
 * Reads, changes and writes the profile under a lock. As in Git, the new contents are written to
 * the lock file, which is then renamed to the profile, so readers never read a partial file.
 * `change` returns null to keep the profile. Returns whether the profile changed.
 */
export async function changeProfile(
  term: Terminal,
  change: (profile: Profile) => Profile | null,
): Promise<boolean> {
  // Imported on demand, because most commands only read the profile.
  const { mkdir, rename, rm, writeFile } = await import('node:fs/promises');
  const path = profilePath(term);
  const lock = `${path}.lock`;
  const take = () =>
    writeFile(lock, '', { flag: 'wx', mode: 0o600 }).then(
      () => true,
      (error) => {
        if (errorCode(error) === 'EEXIST') return false;
        throw error;
      },
    );
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  for (let tries = 0; !(await take()); tries += 1) {
    // A lock this old was left by a process that was killed.
    if (tries >= lockTries) await rm(lock, { force: true });
    else await Bun.sleep(lockPauseMs);
  }
  try {
    const changed = change(await readProfile(term));
    if (changed === null) {
      await rm(lock, { force: true });
      return false;
    }
    await writeFile(lock, `${JSON.stringify(changed, null, 2)}\n`, { mode: 0o600 });
    await rename(lock, path);
    return true;
  } catch (error) {
    // Not in a finally block: after the rename, the lock belongs to another process.
    await rm(lock, { force: true });
    throw error;
  }
}

function isProfile(value: unknown): value is Partial<Profile> {
  if (!isObject(value)) return false;
  const { baseUrl, projects = {}, keys = {} } = value;
  return (
    (baseUrl === undefined || /^https?:$/.test(URL.parse(String(baseUrl))?.protocol ?? '')) &&
    isObject(projects) &&
    Object.values(projects).every((project) => typeof project === 'string') &&
    isObject(keys) &&
    Object.values(keys).every((key) => isObject(key) && typeof key.apiKey === 'string')
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unreadable(path: string, why: string): CliError {
  return new CliError(
    'profile_unreadable',
    `The profile ${path} cannot be read: ${why}.`,
    'Correct or remove that file, or set MEMORY_BASE_URL and MEMORY_API_KEY.',
  );
}
