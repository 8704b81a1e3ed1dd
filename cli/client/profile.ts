import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliError, errorCode, errorText } from '../errors.ts';
import { isObject } from '../terminal/json.ts';
import { configFolder, type Platform, replaceFile, type Terminal } from '../terminal/terminal.ts';
import { shownPath } from '../terminal/text.ts';

/**
 * The settings of a user: the service and project that commands use, and the API keys. A key is
 * stored under the URL of its service, followed by `#` and the project unless that is `default`.
 */
type Profile = {
  baseUrl?: string;
  project?: string;
  keys: Record<string, ProfileKey>;
};

/** The first start of a server may replace a key that another first start has stored. */
type ProfileKey = { apiKey: string; firstRun?: true };

export type Entry = ProfileKey & { baseUrl: string; project: string };

export const defaultProject = 'default';

/**
 * Returns the name under which the keys of a service are stored: all names of the local machine
 * refer to one service. Requests use the URL that was given.
 */
export function serviceName(baseUrl: string): string {
  const url = new URL(baseUrl);
  if (/^(localhost|0\.0\.0\.0|\[::1?\])$/.test(url.hostname)) url.hostname = '127.0.0.1';
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Masks a key in the format of `keys list`. Shows less of a key in an unknown format. */
export function endsOfKey(key: string): string {
  return `${key.startsWith('mk_') ? key.slice(0, 7) : ''}…${key.length < 16 ? '' : key.slice(-4)}`;
}

/** Returns the stored keys, masked. */
export function storedKeys(term: Terminal): Entry[] {
  return Object.entries(readProfile(term).keys).map(([name, { apiKey }]) => {
    const [baseUrl = '', project = defaultProject] = name.split('#');
    return { baseUrl, project, apiKey: endsOfKey(apiKey) };
  });
}

export function entryName(baseUrl: string, project: string): string {
  const service = serviceName(baseUrl);
  return project === defaultProject ? service : `${service}#${project}`;
}

/**
 * Stores a key and returns true. The key of a server's first start never replaces a key that the
 * user stored: then it is not stored.
 */
export function storeKey(term: Terminal, { baseUrl, project, ...key }: Entry): boolean {
  const profile = readProfile(term);
  const name = entryName(baseUrl, project);
  const known = profile.keys[name];
  if (key.firstRun && known !== undefined && !known.firstRun) return false;
  profile.keys[name] = key;
  writeProfile(term, profile);
  return true;
}

export function useService(term: Terminal, baseUrl: string, project: string): void {
  writeProfile(term, { ...readProfile(term), baseUrl, project });
}

/** Says which variables of the environment override the profile. */
export function overridesOf({ env }: Platform): string[] {
  const overriding = ['MEMORY_BASE_URL', 'MEMORY_API_KEY'].filter((name) => env[name]);
  return overriding.map((name) => `${name} is set and overrides the profile.`);
}

export function profilePath(platform: Platform): string {
  return join(configFolder(platform), 'memory-service', 'profile.json');
}

/** Returns the path of the profile with `~` for the home directory. */
export function shownProfilePath(platform: Platform): string {
  return shownPath(platform, profilePath(platform));
}

export function readProfile(term: Terminal): Profile {
  const path = profilePath(term);
  let why = 'it is not a valid profile';
  try {
    const profile: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isProfile(profile)) return { ...profile, keys: profile.keys ?? {} };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { keys: {} };
    // A syntax error has no code, and may quote a key.
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
  const { baseUrl = 'http://x', keys = {} } = value;
  const isKey = (key: unknown) => isObject(key) && typeof key.apiKey === 'string';
  const isUrl = /^https?:$/.test(URL.parse(String(baseUrl))?.protocol ?? '');
  return isUrl && isObject(keys) && Object.values(keys).every(isKey);
}

function writeProfile(term: Terminal, profile: Profile): void {
  replaceFile(profilePath(term), `${JSON.stringify(profile, null, 2)}\n`);
}
