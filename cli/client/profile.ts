import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError, errorCode, errorText } from '../errors.ts';
import { isObject } from '../terminal/json.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shownPath } from '../terminal/text.ts';

export type Entry = { service: string; project: string; apiKey: string };

export const defaultProject = 'default';

/** Normalizes the URL of a service: all names of the local machine refer to one service. */
export function serviceName(baseUrl: string): string {
  const url = new URL(baseUrl);
  if (/^(localhost|0\.0\.0\.0|\[::1?\])$/.test(url.hostname)) url.hostname = '127.0.0.1';
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Masks a key in the format of `keys list`. Shows less of a key in an unknown format. */
export function endsOfKey(key: string): string {
  return `${key.startsWith('mk_') ? key.slice(0, 7) : ''}…${key.length < 16 ? '' : key.slice(-4)}`;
}

export async function readEntries(term: Terminal): Promise<Entry[]> {
  return entriesOf(await readProfile(term));
}

function entriesOf({ keys }: Pick<Profile, 'keys'>): Entry[] {
  return Object.entries(keys).map(([name, { apiKey }]) => {
    const [service = '', project = defaultProject] = name.split('#');
    return { service, project, apiKey };
  });
}

function entryName({ service, project }: Omit<Entry, 'apiKey'>): string {
  return project === defaultProject ? service : `${service}#${project}`;
}

/** Returns the project to use with a service: the chosen one, the only one, or `default`. */
export async function readProject(term: Terminal, service: string): Promise<string> {
  return projectOf(await readProfile(term), service);
}

function projectOf(profile: Profile, service: string): string {
  const [only, ...others] = entriesOf(profile).filter((entry) => entry.service === service);
  const chosen = profile.projects?.[service];
  return chosen ?? (others.length === 0 ? only?.project : undefined) ?? defaultProject;
}

/**
 * Stores the key created at a server's first start. Never replaces a key that the user stored.
 * `replaced` is the masked key of an earlier first start, if any.
 */
export async function storeFirstRunKey(term: Terminal, baseUrl: string, apiKey: string) {
  const name = serviceName(baseUrl);
  let replaced: string | undefined;
  const isStored = await changeProfile(term, (profile) => {
    const known = profile.keys[name];
    if (known !== undefined && known.firstRun !== true) return null;
    if (known !== undefined) replaced = endsOfKey(known.apiKey);
    return { ...profile, keys: { ...profile.keys, [name]: { apiKey, firstRun: true } } };
  });
  return { isStored, replaced };
}

/**
 * Stores a key supplied by the user. Returns the lines to print, including the masked previous key.
 */
export async function storeOwnKey(term: Terminal, entry: Entry): Promise<string[]> {
  const { service, project, apiKey } = entry;
  let before: string | undefined;
  await changeProfile(term, (profile) => {
    before = profile.keys[entryName(entry)]?.apiKey;
    return { ...profile, keys: { ...profile.keys, [entryName(entry)]: { apiKey } } };
  });
  const of = project === defaultProject ? '' : `, project ${project},`;
  const stored = `Stored the key for ${service}${of} in ${shownProfilePath(term)}.`;
  if (before === undefined || before === apiKey) return [stored];
  return [stored, `It replaces the previous key: ${endsOfKey(before)}`];
}

export async function useService(term: Terminal, service: string): Promise<void> {
  await changeProfile(term, (profile) => ({ ...profile, baseUrl: service }));
}

export async function useProject(term: Terminal, service: string, project: string): Promise<void> {
  await changeProfile(term, (profile) => {
    if (projectOf(profile, service) === project) return null;
    return { ...profile, projects: { ...profile.projects, [service]: project } };
  });
}

/** Removes a project's key, or the whole service. Returns whether the profile changed. */
export async function removeService(term: Terminal, service: string, project?: string) {
  return changeProfile(term, ({ baseUrl, projects, keys, ...rest }) => {
    const kept = { ...keys };
    for (const entry of entriesOf({ keys })) {
      const isMeant = entry.service === service && (project ?? entry.project) === entry.project;
      if (isMeant) delete kept[entryName(entry)];
    }
    const isUsed = project === undefined && baseUrl === service;
    if (Object.keys(kept).length === Object.keys(keys).length && !isUsed) return null;
    const chosen = { ...projects };
    if (project === undefined || chosen[service] === project) delete chosen[service];
    return {
      ...rest,
      ...(baseUrl !== undefined && !isUsed && { baseUrl }),
      ...(Object.keys(chosen).length > 0 && { projects: chosen }),
      keys: kept,
    };
  });
}

/**
 * The stored settings of a user: the service to use, the project to use with each service, and the
 * API keys. A key is stored under the URL of its service, followed by `#` and the project unless
 * the project is `default`.
 */
type Profile = {
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
async function changeProfile(
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
    // Not in a finally block: after the rename, another process may hold the lock.
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

function unreadable(path: string, why: string): CliError {
  return new CliError(
    'profile_unreadable',
    `The profile ${path} cannot be read: ${why}.`,
    'Correct or remove that file, or set MEMORY_BASE_URL and MEMORY_API_KEY.',
  );
}
