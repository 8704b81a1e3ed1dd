import type {
  AttemptEvent,
  ClientOptions,
  MemoryClient,
  MemoryServiceError,
} from '../../sdk/index.ts';
import { CliError, errorCode, exitCodes, usageError } from '../errors.ts';
import { noteStyled, type Terminal } from '../terminal/terminal.ts';
import { capitalized, escapeLine } from '../terminal/text.ts';
import * as profile from './profile.ts';

export const defaultBaseUrl = 'http://127.0.0.1:7070';

type Connecting = Pick<ClientOptions, 'timeoutMs' | 'fetch'> & { needsKey?: boolean };

/** Creates a client. Flags override the environment, which overrides the profile. */
export async function connect(
  term: Terminal,
  { needsKey = true, ...options }: Connecting = {},
): Promise<MemoryClient> {
  const { value: baseUrl } = resolveBaseUrl(term);
  const apiKey = needsKey ? resolveApiKey(term, baseUrl)?.value : 'none';
  if (apiKey === undefined) throw noKey(term, baseUrl);
  // Imported on demand, to keep help and usage errors fast.
  const { MemoryClient } = await import('../../sdk/index.ts');
  return new MemoryClient({ ...options, baseUrl, apiKey, onAttempt: reportRetries(term) });
}

type SettingSource = 'flag' | 'environment' | 'profile' | 'default';
type Resolved = { value: string; from: SettingSource; project?: string };

export function resolveBaseUrl(term: Terminal): Resolved {
  const { baseUrl } = term.options;
  if (baseUrl !== undefined) return { value: parseBaseUrl(baseUrl, '--base-url'), from: 'flag' };
  const named = term.env.MEMORY_BASE_URL;
  if (named) return { value: parseBaseUrl(named, 'MEMORY_BASE_URL'), from: 'environment' };
  const { baseUrl: used } = profile.readProfile(term);
  if (used === undefined) return { value: defaultBaseUrl, from: 'default' };
  const where = `baseUrl in ${profile.shownProfilePath(term)}`;
  return { value: parseBaseUrl(used, where), from: 'profile' };
}

/** Validates a base URL and removes trailing slashes. `where` names its source in errors. */
export function parseBaseUrl(baseUrl: string, where: string): string {
  const { protocol = '', username, password, search, hash } = URL.parse(baseUrl) ?? {};
  const base = baseUrl.trim().replace(/\/+$/, '');
  const isPlain = !(username || password || search || hash) && !base.endsWith('/v1');
  if (/^https?:$/.test(protocol) && isPlain) return base;
  // A URL with an @ may contain a password, so the error does not repeat the URL.
  const shown = baseUrl.includes('@') ? '' : `: ${baseUrl}`;
  throw usageError(
    `${where} must be an http or https URL without user name, query, fragment or /v1${shown}`,
    `For example: ${defaultBaseUrl}`,
  );
}

/** Returns the key and its source. Trims spaces that were copied with the key. */
export function resolveApiKey(term: Terminal, baseUrl: string): Resolved | undefined {
  const { apiKey, project } = term.options;
  const flag = apiKey?.trim();
  if (flag === '') throw usageError('--api-key must not be empty.', 'Omit it, or pass a key.');
  if (flag && project !== undefined) {
    throw usageError('A key belongs to one project: use --api-key or --project, not both.');
  }
  if (flag) return { value: flag, from: 'flag' };
  const environment = term.env.MEMORY_API_KEY?.trim();
  // --project selects one of the profile's keys, so it overrides the environment.
  if (environment && project === undefined) return { value: environment, from: 'environment' };
  const stored = profile.readProfile(term);
  const service = profile.serviceName(baseUrl);
  const isUsed = stored.baseUrl && profile.serviceName(stored.baseUrl) === service;
  const wanted = project ?? (isUsed ? stored.project : undefined) ?? profile.defaultProject;
  const value = stored.keys[profile.entryName(baseUrl, wanted)]?.apiKey.trim();
  return value ? { value, from: 'profile', project: wanted } : undefined;
}

function noKey(term: Terminal, baseUrl: string): CliError {
  const { project } = term.options;
  const target = project === undefined ? baseUrl : `project ${project} of ${baseUrl}`;
  const flag = project === undefined ? '' : ` --project ${project}`;
  const hint = `${flag ? 'Store' : 'Set MEMORY_API_KEY, or store'} a key: memory profile set ${baseUrl} -${flag}
To start a server, which creates the first key: memory serve
To create a key on the machine of the server: memory keys create --save${flag}
To see the stored keys: memory profile show`;
  return new CliError('unauthorized', `No API key for ${target}.`, hint, exitCodes.refused);
}

/** The minimum wait to report. A shorter wait ends before the user can read the message. */
const minReportedMs = 1_900;

export function reportRetries(term: Terminal) {
  let reportedUntil = 0;
  return ({ error, retryInMs = 0 }: Pick<AttemptEvent, 'error' | 'retryInMs'>): void => {
    // If several concurrent requests wait, only one is reported.
    if (retryInMs < minReportedMs || term.clock() < reportedUntil) return;
    reportedUntil = term.clock() + retryInMs;
    const why = error === undefined ? '' : capitalized(escapeLine(reasonOf(term, error)));
    void noteStyled(term, `${why}. Retrying in ${Math.ceil(retryInMs / 1000)} s.`);
  };
}

function reasonOf(term: Terminal, error: MemoryServiceError): string {
  const { code, status, message } = error;
  if (code === 'unexpected_answer') return `the service returned ${status}`;
  if (code !== 'connection' && code !== 'timeout') return message;
  return unreachable(resolveBaseUrl(term).value, error);
}

/** Says why the service cannot be reached, without Bun's advice, which is for the programmer. */
export function unreachable(baseUrl: string, { message, cause }: MemoryServiceError): string {
  const isRefused = /refused/i.test(errorCode(cause));
  const reason = message
    .replace(/^no response from \S+: /, '')
    .replace(/ from \S+ within /, ' within ')
    .replace(/\.? For more information, pass .*$/, '');
  return `Cannot reach ${baseUrl} (${isRefused ? 'connection refused' : reason})`;
}
