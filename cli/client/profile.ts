import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Terminal } from '../terminal/terminal.ts';
import { CliError } from './errors.ts';

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

export type Entry = { service: string; project: string; apiKey: string };

export const defaultProject = 'default';

export function entriesOf({ keys }: Profile): Entry[] {
  return Object.entries(keys).map(([name, { apiKey }]) => {
    const [service = '', project = defaultProject] = name.split('#');
    return { service, project, apiKey };
  });
}

function entryName(service: string, project: string): string {
  return project === defaultProject ? service : `${service}#${project}`;
}

/** The project of a service that commands use: the chosen one, the only one, or `default`. */
export function projectOf(profile: Profile, service: string): string {
  const [only, ...others] = entriesOf(profile).filter((entry) => entry.service === service);
  const chosen = profile.projects?.[service];
  return chosen ?? (others.length === 0 ? only?.project : undefined) ?? defaultProject;
}

/** `firstRun` marks a key that a server made for itself; the next server may replace it. */
export type ProfileKey = { apiKey: string; firstRun?: true };

export function profilePath({ env, home, platform }: Pick<Terminal, 'env' | 'home' | 'platform'>) {
  const folder =
    platform === 'win32'
      ? env.APPDATA || join(home, 'AppData', 'Roaming')
      : env.XDG_CONFIG_HOME || join(home, '.config');
  return join(folder, 'memory-service', 'profile.json');
}

/** One name for a service: a server listening everywhere is reached as this machine. */
export function serviceName(baseUrl: string): string {
  const url = new URL(baseUrl);
  if (/^(localhost|0\.0\.0\.0|\[::1?\])$/.test(url.hostname)) url.hostname = '127.0.0.1';
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** As `keys list` shows it; of a key that is not one of ours too little is known to show more. */
export function endsOfKey(key: string): string {
  return `${key.startsWith('mk_') ? key.slice(0, 7) : ''}…${key.length < 16 ? '' : key.slice(-4)}`;
}

/** The path as people write it. */
export function shownProfilePath(term: Pick<Terminal, 'env' | 'home' | 'platform'>): string {
  const path = profilePath(term);
  return path.startsWith(`${term.home}/`) ? `~${path.slice(term.home.length)}` : path;
}

export async function readProfile(term: Terminal): Promise<Profile> {
  const path = profilePath(term);
  return { keys: {}, ...parseProfile(readText(path), path) };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '{}';
    throw unreadable(path, error.message);
  }
}

/**
 * Keeps the key that a server made when it first started. A key that the user put there stays.
 * Says whether it was stored.
 */
export async function storeFirstRunKey(
  term: Terminal,
  baseUrl: string,
  apiKey: string,
): Promise<boolean> {
  const name = serviceName(baseUrl);
  return changeProfile(term, (profile) => {
    const known = profile.keys[name];
    if (known !== undefined && known.firstRun !== true) return null;
    return withKey(profile, name, { apiKey, firstRun: true });
  });
}

/**
 * Keeps a key that the user wants there, in the place of any other for that project of the service.
 * Gives the words for both: the one before cannot be shown again.
 */
export async function storeOwnKey(
  term: Terminal,
  { service, project, apiKey }: Entry,
): Promise<Stored> {
  const name = entryName(service, project);
  let before: string | undefined;
  await changeProfile(term, (profile) => {
    before = profile.keys[name]?.apiKey;
    return withKey(profile, name, { apiKey });
  });
  const of = project === defaultProject ? '' : `, project ${project},`;
  const kept = `Kept for ${service}${of} in ${shownProfilePath(term)}.`;
  if (before === undefined || before === apiKey) return { kept };
  return { kept, replaced: `It replaces the key kept before: ${endsOfKey(before)}` };
}

type Stored = { kept: string; replaced?: string };

function withKey(profile: Profile, name: string, key: ProfileKey): Profile {
  return { ...profile, keys: { ...profile.keys, [name]: key } };
}

/** The service that commands use when nothing else names one. */
export async function useService(term: Terminal, service: string): Promise<void> {
  await changeProfile(term, (profile) => ({ ...profile, baseUrl: service }));
}

/** The project of a service whose key commands use when nothing else names one. */
export async function useProject(term: Terminal, service: string, project: string): Promise<void> {
  await changeProfile(term, (profile) => {
    if (projectOf(profile, service) === project) return null;
    return { ...profile, projects: { ...profile.projects, [service]: project } };
  });
}

/** Forgets the key of a project, or the whole service. Says whether it was known. */
export async function removeService(
  term: Terminal,
  service: string,
  project?: string,
): Promise<boolean> {
  const isMeant = (entry: Entry) =>
    entry.service === service && (project === undefined || entry.project === project);
  return changeProfile(term, (profile) => {
    const { baseUrl, projects = {}, keys, ...rest } = profile;
    const meant = entriesOf(profile).filter(isMeant);
    const isUsed = project === undefined && baseUrl === service;
    if (meant.length === 0 && !isUsed) return null;
    const left = without(
      keys,
      meant.map((entry) => entryName(service, entry.project)),
    );
    const chosen = without(projects, meant.some(isChosenIn(projects)) ? [service] : []);
    return {
      ...rest,
      ...(baseUrl !== undefined && !isUsed && { baseUrl }),
      ...(Object.keys(chosen).length > 0 && { projects: chosen }),
      keys: left,
    };
  });
}

function isChosenIn(projects: Record<string, string>): (entry: Entry) => boolean {
  return ({ service, project }) => projects[service] === project;
}

function without<Value>(all: Record<string, Value>, names: string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));
}

const lockTries = 200;
const lockPauseMs = 5;

/**
 * Reads, changes and writes the profile, one process after the other: none may take back what
 * another has written. Says whether there was something to change; null is nothing.
 */
async function changeProfile(
  term: Terminal,
  change: (profile: Profile) => Profile | null,
): Promise<boolean> {
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
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
  throw error;
}

/** By rename, so that a reader sees the old file or the new one, and no one else may read it. */
async function writeProfile(path: string, profile: Profile): Promise<void> {
  // Loaded here because most commands only read.
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

function parseProfile(text: string, path: string): Partial<Profile> {
  try {
    const profile = JSON.parse(text);
    const { baseUrl, projects = {}, keys = {} } = profile;
    const right =
      (baseUrl === undefined || /^https?:$/.test(new URL(baseUrl).protocol)) &&
      Object.values(asRecord(projects)).every((project) => typeof project === 'string') &&
      Object.values(keys).every((key) => typeof asRecord(key).apiKey === 'string');
    if (right && isObject(profile) && isObject(keys)) return profile;
  } catch {
    // Said below.
  }
  throw unreadable(path, 'it does not hold a profile');
}

function asRecord(value: unknown): Record<string, unknown> {
  return isObject(value) ? { ...value } : {};
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unreadable(path: string, why: string): CliError {
  return new CliError({
    code: 'profile_unreadable',
    message: `The profile ${path} cannot be read: ${why}.`,
    hint: 'Mend or remove that file, or set MEMORY_BASE_URL and MEMORY_API_KEY.',
  });
}
