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
  if (apiKey === undefined) throw noKey(baseUrl);
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
export function checkedUrl(baseUrl: string, where: string): string {
  const url = URL.parse(baseUrl);
  if (url !== null && /^https?:$/.test(url.protocol)) return baseUrl.replace(/\/+$/, '');
  throw usageError(`${where} is not an http address: ${baseUrl}`, `Such as ${defaultBaseUrl}`);
}

/** The key and where it came from. Spaces around it come from copying it. */
export async function resolveApiKey(
  io: Io,
  { apiKey }: { apiKey?: string },
  baseUrl: string,
): Promise<{ value: string; from: Origin } | undefined> {
  const flag = apiKey?.trim();
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

function noKey(baseUrl: string): CliError {
  return new CliError({
    code: 'unauthorized',
    message: `No API key for ${baseUrl}.`,
    hint: 'Set MEMORY_API_KEY; where the server runs, make a key: memory keys create --save',
    exitCode: exitCodes.refused,
  });
}
