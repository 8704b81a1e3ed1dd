import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError } from './failure.ts';
import type { Io } from './io.ts';

/** What the command line keeps for its user: which service to use, and a key for each it knows. */
export type Profile = { baseUrl?: string; keys: Record<string, ProfileKey> };

/** `firstRun` marks a key that a server made for itself; the next server may replace it. */
export type ProfileKey = { apiKey: string; firstRun?: true };

export function profilePath({ env, home, platform }: Pick<Io, 'env' | 'home' | 'platform'>) {
  const folder =
    platform === 'win32'
      ? env.APPDATA || join(home, 'AppData', 'Roaming')
      : env.XDG_CONFIG_HOME || join(home, '.config');
  return join(folder, 'memory-service', 'profile.json');
}

/** One name for a service: a server listening everywhere is reached as this machine. */
export function profileKeyOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  if (/^(localhost|0\.0\.0\.0|\[::1?\])$/.test(url.hostname)) url.hostname = '127.0.0.1';
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** As `keys list` shows it; of a key that is not one of ours too little is known to show more. */
export function endsOfKey(key: string): string {
  return `${key.startsWith('mk_') ? key.slice(0, 7) : ''}…${key.length < 16 ? '' : key.slice(-4)}`;
}

/** The path as people write it. */
export function shownProfilePath(io: Pick<Io, 'env' | 'home' | 'platform'>): string {
  const path = profilePath(io);
  return path.startsWith(`${io.home}/`) ? `~${path.slice(io.home.length)}` : path;
}

export async function readProfile(io: Io): Promise<Profile> {
  const path = profilePath(io);
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
export async function storeFirstRunKey(io: Io, baseUrl: string, apiKey: string): Promise<boolean> {
  const profile = await readProfile(io);
  const name = profileKeyOf(baseUrl);
  const known = profile.keys[name];
  if (known !== undefined && known.firstRun !== true) return false;
  profile.keys[name] = { apiKey, firstRun: true };
  await writeProfile(profilePath(io), profile);
  return true;
}

/** Keeps a key that the user wants there, in the place of any other for that service. */
export async function storeOwnKey(io: Io, baseUrl: string, apiKey: string): Promise<void> {
  const profile = await readProfile(io);
  profile.keys[profileKeyOf(baseUrl)] = { apiKey };
  await writeProfile(profilePath(io), profile);
}

/** The service that commands use when nothing else names one. */
export async function useService(io: Io, baseUrl: string): Promise<void> {
  const profile = await readProfile(io);
  await writeProfile(profilePath(io), { ...profile, baseUrl: profileKeyOf(baseUrl) });
}

/** Forgets a service and its key. Says whether it was known. */
export async function removeService(io: Io, baseUrl: string): Promise<boolean> {
  const { baseUrl: used, keys, ...rest } = await readProfile(io);
  const name = profileKeyOf(baseUrl);
  const { [name]: key, ...others } = keys;
  if (key === undefined && used !== name) return false;
  const kept = used === undefined || used === name ? {} : { baseUrl: used };
  await writeProfile(profilePath(io), { ...rest, ...kept, keys: others });
  return true;
}

/** By rename, so that a reader sees the old file or the new one, and no one else may read it. */
async function writeProfile(path: string, profile: Profile): Promise<void> {
  // Loaded here because most commands only read.
  const { mkdir, rename, rm, writeFile } = await import('node:fs/promises');
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
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
    const { baseUrl, keys = {} } = profile;
    const right =
      (baseUrl === undefined || /^https?:$/.test(new URL(baseUrl).protocol)) &&
      Object.values(keys).every((key) => typeof asRecord(key).apiKey === 'string');
    if (right && !Array.isArray(profile) && !Array.isArray(keys)) return profile;
  } catch {
    // Said below.
  }
  throw unreadable(path, 'it does not hold a profile');
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function unreadable(path: string, why: string): CliError {
  return new CliError({
    code: 'profile_unreadable',
    message: `The profile ${path} cannot be read: ${why}.`,
    hint: 'Mend or remove that file, or set MEMORY_BASE_URL and MEMORY_API_KEY.',
  });
}
