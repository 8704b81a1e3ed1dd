import type { MemoryClient } from '../sdk/index.ts';
import type { GlobalOptions } from './commander.ts';
import { CliError, exitCodes, usageError } from './failure.ts';
import type { Io } from './io.ts';
import { profileKeyOf, readProfile } from './profile.ts';
import { tellWaits } from './retries.ts';

export const defaultBaseUrl = 'http://127.0.0.1:7070';

/** The client for this command: flag, then environment, then profile, then default. */
export async function connect(io: Io, options: GlobalOptions): Promise<MemoryClient> {
  const { value: baseUrl } = await resolveBaseUrl(io, options);
  const apiKey = await resolveApiKey(io, options, baseUrl);
  if (apiKey === undefined) throw await noKey(io, baseUrl);
  return client(io, baseUrl, apiKey.value);
}

/** For what needs no key. */
export async function connectWithoutKey(io: Io, options: GlobalOptions): Promise<MemoryClient> {
  return client(io, (await resolveBaseUrl(io, options)).value, 'none');
}

/** Where a setting came from. */
export type Origin = 'flag' | 'environment' | 'profile' | 'default';

/** The service and where it was named. */
export async function resolveBaseUrl(
  io: Io,
  { baseUrl }: { baseUrl?: string },
): Promise<{ value: string; from: Origin }> {
  if (baseUrl !== undefined) return { value: checkedUrl(baseUrl, '--base-url'), from: 'flag' };
  const environment = io.env.MEMORY_BASE_URL;
  if (environment)
    return { value: checkedUrl(environment, 'MEMORY_BASE_URL'), from: 'environment' };
  const { baseUrl: used } = await readProfile(io);
  return used === undefined
    ? { value: defaultBaseUrl, from: 'default' }
    : { value: used, from: 'profile' };
}

/** An address without the slash at its end; `where` is what named it. */
export function checkedUrl(
  baseUrl: string,
  where: string,
  hint = `Such as ${defaultBaseUrl}`,
): string {
  const { protocol = '', username, password, search, hash } = URL.parse(baseUrl) ?? {};
  // Not repeated where a password may stand before the @.
  const shown = baseUrl.includes('@') ? '' : `: ${baseUrl}`;
  if (!/^https?:$/.test(protocol))
    throw usageError(`${where} is not an http address${shown}`, hint);
  if (!username && !password && !search && !hash) return baseUrl.trim().replace(/\/+$/, '');
  throw usageError(`${where} may hold no user, query or fragment${shown}`, hint);
}

/** The key and where it came from. Spaces around it come from copying it. */
export async function resolveApiKey(
  io: Io,
  { apiKey }: { apiKey?: string },
  baseUrl: string,
): Promise<{ value: string; from: Origin } | undefined> {
  const flag = apiKey?.trim();
  if (flag === '') throw usageError('--api-key is empty.', 'Leave it out, or give the key.');
  if (flag) return { value: flag, from: 'flag' };
  const environment = io.env.MEMORY_API_KEY?.trim();
  if (environment) return { value: environment, from: 'environment' };
  const { keys } = await readProfile(io);
  const kept = keys[profileKeyOf(baseUrl)]?.apiKey.trim();
  return kept ? { value: kept, from: 'profile' } : undefined;
}

async function client(io: Io, baseUrl: string, apiKey: string): Promise<MemoryClient> {
  // Loaded here so that help and usage errors answer at once.
  const { MemoryClient } = await import('../sdk/index.ts');
  return new MemoryClient({ baseUrl, apiKey, onAttempt: tellWaits(io) });
}

async function noKey(io: Io, baseUrl: string): Promise<CliError> {
  const known = Object.keys((await readProfile(io)).keys).filter(
    (url) => url !== profileKeyOf(baseUrl),
  );
  return new CliError({
    code: 'unauthorized',
    message: `No API key for ${baseUrl}.`,
    hint: known.length > 0 ? otherServices(known) : firstKey,
    exitCode: exitCodes.refused,
  });
}

const firstKey =
  'Set MEMORY_API_KEY. Where the server is to run: memory serve makes a first key;\n' +
  'beside one that has keys, make another: memory keys create --save';

function otherServices(known: string[]): string {
  const [url = ''] = known;
  const which = known.length === 1 ? url : '<url>';
  return (
    `Set MEMORY_API_KEY. The profile has a key for ${listed(known)}:\n` +
    `add --base-url ${which}, or for good: memory profile use ${which}`
  );
}

const mostListed = 3;

/** The first few of them. */
export function listed(urls: string[]): string {
  const more = urls.length > mostListed ? `, … (memory profile list)` : '';
  return `${urls.slice(0, mostListed).join(', ')}${more}`;
}
