import type { MemoryClient } from '../sdk/index.ts';
import type { GlobalOptions } from './commander.ts';
import { CliError, exitCodes, usageError } from './failure.ts';
import type { Io } from './io.ts';
import { profileKeyOf, readProfile } from './profile.ts';

export const defaultBaseUrl = 'http://127.0.0.1:7070';

/** The client for this command: flag, then environment, then profile, then default. */
export async function connect(io: Io, options: GlobalOptions): Promise<MemoryClient> {
  const baseUrl = resolveBaseUrl(io, options);
  const apiKey = await resolveApiKey(io, options, baseUrl);
  if (apiKey === undefined) throw noKey(baseUrl);
  return client(baseUrl, apiKey);
}

/** For what needs no key. */
export async function connectWithoutKey(io: Io, options: GlobalOptions): Promise<MemoryClient> {
  const baseUrl = resolveBaseUrl(io, options);
  return client(baseUrl, (await resolveApiKey(io, options, baseUrl)) ?? 'none');
}

export function resolveBaseUrl(io: Io, options: { baseUrl?: string }): string {
  const baseUrl = options.baseUrl ?? (io.env.MEMORY_BASE_URL || defaultBaseUrl);
  const url = URL.parse(baseUrl);
  if (url !== null && /^https?:$/.test(url.protocol)) return baseUrl.replace(/\/+$/, '');
  const where = options.baseUrl === undefined ? 'MEMORY_BASE_URL' : '--base-url';
  throw usageError(`${where} is not an http address: ${baseUrl}`, `Such as ${defaultBaseUrl}`);
}

async function resolveApiKey(io: Io, options: { apiKey?: string }, baseUrl: string) {
  const given = options.apiKey || io.env.MEMORY_API_KEY;
  if (given) return given;
  const { keys } = await readProfile(io);
  return keys[profileKeyOf(baseUrl)]?.apiKey;
}

async function client(baseUrl: string, apiKey: string): Promise<MemoryClient> {
  // Loaded here so that help and usage errors answer at once.
  const { MemoryClient } = await import('../sdk/index.ts');
  return new MemoryClient({ baseUrl, apiKey });
}

function noKey(baseUrl: string): CliError {
  return new CliError({
    code: 'unauthorized',
    message: `No API key for ${baseUrl}.`,
    hint: 'Set MEMORY_API_KEY; where the server runs, make a key: memory keys create',
    exitCode: exitCodes.refused,
  });
}
