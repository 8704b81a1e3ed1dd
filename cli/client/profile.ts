import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError, errorCode, errorText } from '../errors.ts';
import { isObject } from '../terminal/json.ts';
import { configFolder, note, type Place, type Terminal } from '../terminal/terminal.ts';
import { shownPath } from '../terminal/text.ts';

export type Entry = ProfileKey & { service: string; project: string };

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

export function entriesOf({ keys }: Profile): Entry[] {
  return Object.entries(keys).map(([name, key]) => {
    const [service = '', project = defaultProject] = name.split('#');
    return { ...key, service, project };
  });
}

export function entryName(service: string, project: string): string {
  return project === defaultProject ? service : `${service}#${project}`;
}

/** Returns the project to use with a service: the chosen one, the only one, or `default`. */
export function projectOf(profile: Profile, service: string): string {
  const [only, ...others] = entriesOf(profile).filter((entry) => entry.service === service);
  const chosen = profile.projects?.[service];
  return chosen ?? (others.length === 0 ? only?.project : undefined) ?? defaultProject;
}

/**
 * Stores a key. The key of a server's first start never replaces a key that the user stored.
 * `replaced` is the previous key, masked, if it differs from the new key.
 */
export async function storeKey(term: Terminal, entry: Entry) {
  const { service, project, ...key } = entry;
  const name = entryName(service, project);
  let replaced: string | undefined;
  const isStored = await changeProfile(term, ({ keys }) => {
    const known = keys[name];
    if (key.firstRun && known !== undefined && !known.firstRun) return false;
    if (known !== undefined && known.apiKey !== key.apiKey) replaced = endsOfKey(known.apiKey);
    keys[name] = key;
    return true;
  });
  return { isStored, replaced };
}

/** Stores a key supplied by the user and reports it; with --json, only the key that it replaces. */
export async function storeOwnKey(term: Terminal, entry: Entry, json?: true): Promise<void> {
  const { service, project } = entry;
  const { replaced } = await storeKey(term, entry);
  const of = project === defaultProject ? '' : `, project ${project},`;
  if (!json) await note(term, `Stored the key for ${service}${of} in ${shownProfilePath(term)}.`);
  if (replaced !== undefined) await note(term, `Replaced the previous key: ${replaced}`);
}

export async function useService(term: Terminal, service: string): Promise<void> {
  await changeProfile(term, (profile) => {
    profile.baseUrl = service;
    return true;
  });
}

export async function useProject(term: Terminal, service: string, project: string): Promise<void> {
  await changeProfile(term, (profile) => {
    if (projectOf(profile, service) === project) return false;
    profile.projects = { ...profile.projects, [service]: project };
    return true;
  });
}

/** Removes a project's key, or the whole service. Returns whether the profile changed. */
export async function removeService(term: Terminal, service: string, project?: string) {
  return changeProfile(term, (profile) => {
    const { baseUrl, projects = {}, keys } = profile;
    const removed = entriesOf(profile).filter(
      (entry) => entry.service === service && entry.project === (project ?? entry.project),
    );
    const isUsed = project === undefined && baseUrl === service;
    if (removed.length === 0 && !isUsed) return false;
    for (const entry of removed) delete keys[entryName(entry.service, entry.project)];
    if (isUsed) delete profile.baseUrl;
    if (project === undefined || projects[service] === project) delete projects[service];
    if (Object.keys(projects).length === 0) delete profile.projects;
    return true;
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
 * `firstRun` marks a key that a server created on its first start. The first start of another
 * server may replace such a key.
 */
type ProfileKey = { apiKey: string; firstRun?: true };

export function profilePath(place: Place): string {
  return join(configFolder(place), 'memory-service', 'profile.json');
}

/** Returns the path of the profile with `~` for the home directory. */
export function shownProfilePath(place: Place): string {
  return shownPath(place, profilePath(place));
}

export function readProfile(term: Terminal): Profile {
  const path = profilePath(term);
  let why = 'its contents are not a valid profile';
  try {
    const profile: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isProfile(profile)) return { ...profile, keys: profile.keys ?? {} };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { keys: {} };
    // A syntax error has no code.
    if (code !== '') why = errorText(error);
  }
  throw new CliError(
    'profile_unreadable',
    `The profile ${path} cannot be read: ${why}.`,
    'Correct or remove that file, or set MEMORY_BASE_URL and MEMORY_API_KEY.',
  );
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

/** How long to wait for another command that is changing the profile. */
const lockPatienceMs = 10_000;
const lockPauseMs = 5;

/**
 * Reads, changes and writes the profile under a lock. The new contents are written to another file,
 * which is then renamed to the profile, so readers never read a partial file. `change` modifies the
 * profile and returns whether it did. This function returns the same value.
 */
async function changeProfile(term: Terminal, change: (profile: Profile) => boolean) {
  const path = profilePath(term);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  using _lock = await lockProfile(term, path);
  const next = `${path}.new`;
  // The unfinished file of a killed process may have other permissions.
  rmSync(next, { force: true });
  const profile = readProfile(term);
  if (!change(profile)) return false;
  writeFileSync(next, `${JSON.stringify(profile, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, path);
  return true;
}

async function lockProfile(term: Terminal, path: string): Promise<Disposable> {
  // Imported on demand, because commands that only read the profile need no SQLite.
  const { tryLock } = await import('../../server/storage/sqlite/lock.ts');
  const deadline = performance.now() + lockPatienceMs;
  // SQLite would block this thread while it waits, and `memory serve` also runs the server in it.
  while (performance.now() < deadline) {
    const lock = tryLock(join(dirname(path), 'profile.lock'), path);
    if (lock !== null) return lock;
    await Bun.sleep(lockPauseMs);
  }
  throw new CliError(
    'profile_locked',
    `Another command is changing the profile ${shownProfilePath(term)}.`,
    'Try again when it has finished.',
  );
}
