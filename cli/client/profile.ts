import type { Terminal } from '../terminal/terminal.ts';
import { changeProfile, type Profile, readProfile, shownProfilePath } from './profile-file.ts';

export type Entry = { service: string; project: string; apiKey: string };

export const defaultProject = 'default';

/** Normalizes the URL of a service, so that all names of the local machine refer to one service. */
export function serviceName(baseUrl: string): string {
  const url = new URL(baseUrl);
  if (/^(localhost|0\.0\.0\.0|\[::1?\])$/.test(url.hostname)) url.hostname = '127.0.0.1';
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Masks a key like `keys list`. Keys in an unknown format are masked further. */
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

/** Stores the key of a server's first start. Never replaces a key that the user stored. */
export async function storeFirstRunKey(term: Terminal, baseUrl: string, apiKey: string) {
  const name = serviceName(baseUrl);
  return changeProfile(term, (profile) => {
    const known = profile.keys[name];
    if (known !== undefined && known.firstRun !== true) return null;
    return { ...profile, keys: { ...profile.keys, [name]: { apiKey, firstRun: true } } };
  });
}

/** Stores a key of the user. Returns the lines to print, with the masked key that it replaced. */
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

/** Removes the key of a project, or the whole service. Returns whether it existed. */
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
