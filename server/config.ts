import { limits } from '../sdk/contract/limits.ts';
import { unknownSettings } from './config/unknown-settings.ts';
import type { Endpoint } from './embeddings/endpoint.ts';
import { InvalidSettingsError } from './errors.ts';
import { isSubnet } from './http/client-address.ts';
import { logLevels } from './log.ts';

type Env = Record<string, string | undefined>;

type Setting<T> = {
  names: string[];
  /** Returns the value, or the one by default. Adds a problem if the text is not valid. */
  read(env: Env, problems: string[]): T;
};

function setting<T>(
  name: string,
  fallback: T,
  parse: (text: string) => T | undefined,
  want: string,
): Setting<T> {
  return {
    names: [name],
    read(env, problems) {
      const text = env[name];
      if (text === undefined || text === '') return fallback;
      const value = parse(text);
      if (value !== undefined) return value;
      problems.push(`${name} must be ${want}`);
      return fallback;
    },
  };
}

/** Visible ASCII characters, which need no encoding in a header. */
export const apiKeyPattern = /^[\x21-\x7e]{16,256}$/;

const settings = {
  port: setting('PORT', 7070, (text) => integer(text, 0, 65_535), 'a port number, 0 to 65535'),
  host: setting('HOST', '127.0.0.1', (text) => text, 'a host name or address'),
  databaseUrl: setting(
    'MEMORY_DATABASE_URL',
    'sqlite:./data/memory.db',
    databaseUrl,
    'sqlite:<path>, such as sqlite:./data/memory.db, or postgres://<user>@<host>/<database>, ' +
      'in which % is written %25',
  ),
  apiKey: setting(
    'MEMORY_API_KEY',
    null,
    matching(apiKeyPattern),
    '16 to 256 visible ASCII characters',
  ),
  corsOrigins: setting(
    'MEMORY_CORS_ORIGINS',
    [],
    listOf((origin) => URL.parse(origin)?.origin === origin),
    'a comma-separated list of origins such as https://app.example',
  ),
  /** Additional host names under which clients may reach /mcp. */
  mcpHosts: setting(
    'MEMORY_MCP_HOSTS',
    [],
    (text) => listOf(isHostName)(text.toLowerCase()),
    'a comma-separated list of host names such as memory.example',
  ),
  logLevel: setting('LOG_LEVEL', 'info', oneOf(logLevels), `one of ${logLevels.join(', ')}`),
  maxBodyBytes: setting(
    'MEMORY_MAX_BODY_BYTES',
    limits.bodyBytesDefault,
    (text) => integer(text, 1_024, 1_073_741_824),
    'a number of bytes from 1024 to 1073741824',
  ),
  /** Null disables the limit. */
  rateLimit: setting(
    'MEMORY_RATE_LIMIT',
    { requests: 6_000, seconds: 60 },
    rateLimit,
    '<requests>/<seconds>, such as 6000/60, or off',
  ),
  /** Which model searches by meaning: none, the built-in one, or that of an endpoint. */
  embeddings: {
    names: ['MEMORY_EMBEDDINGS', 'MEMORY_EMBEDDINGS_MODEL', 'MEMORY_EMBEDDINGS_KEY'],
    read: readEmbeddings,
  },
  /** The addresses and subnets of proxies whose X-Forwarded-For is believed. */
  trustedProxies: setting(
    'MEMORY_TRUSTED_PROXIES',
    [],
    listOf(isSubnet),
    'a comma-separated list of addresses and subnets such as 10.0.0.0/8',
  ),
  metrics: setting('MEMORY_METRICS', 'on', oneOf(['on', 'off']), 'on or off'),
  /** Whether /console and /docs are served. */
  console: setting('MEMORY_CONSOLE', 'on', oneOf(['on', 'off']), 'on or off'),
};

export const settingNames = Object.values(settings).flatMap(({ names }) => names);

export type Config = {
  [Key in keyof typeof settings]: ReturnType<(typeof settings)[Key]['read']>;
};

/** Reads all of the server's settings. Throws one Error that lists every problem. */
export function readConfig(env: Env): Config {
  const problems: string[] = [];
  const values = Object.entries(settings).map(([key, { read }]) => [key, read(env, problems)]);
  if (problems.length > 0) {
    throw new InvalidSettingsError(`Invalid settings: ${problems.join('; ')}`);
  }
  return Object.fromEntries(values);
}

function readEmbeddings(env: Env, problems: string[]): 'off' | 'local' | Endpoint {
  const where = setting(
    'MEMORY_EMBEDDINGS',
    'local',
    embeddingsUrl,
    'local, off, or an http(s) URL',
  ).read(env, problems);
  if (where === 'local' || where === 'off') return where;
  const { MEMORY_EMBEDDINGS_MODEL: model = '' } = env;
  if (model === '') {
    problems.push('MEMORY_EMBEDDINGS_MODEL must be set if MEMORY_EMBEDDINGS is a URL');
  }
  const key = setting(
    'MEMORY_EMBEDDINGS_KEY',
    null,
    matching(/^[\x21-\x7e]+$/),
    'visible ASCII characters',
  ).read(env, problems);
  return { url: where, model, key };
}

/** Returns a warning for each setting that has no effect. */
export function settingWarnings(env: Env): string[] {
  const warnings = unknownSettings(env, settingNames);
  const { MEMORY_EMBEDDINGS: where } = env;
  if (where && where !== 'local') return warnings;
  const unused = ['MEMORY_EMBEDDINGS_MODEL', 'MEMORY_EMBEDDINGS_KEY'].filter((name) => env[name]);
  const why = 'has no effect unless MEMORY_EMBEDDINGS is a URL';
  return [...warnings, ...unused.map((name) => `${name} ${why}`)];
}

function matching(pattern: RegExp) {
  return (text: string) => (pattern.test(text) ? text : undefined);
}

function oneOf<const T extends string>(values: readonly T[]) {
  return (text: string) => values.find((value) => value === text);
}

function listOf(isValid: (entry: string) => boolean) {
  return (text: string): string[] | undefined => {
    const list = text.split(',').map((entry) => entry.trim());
    return list.every(isValid) ? list : undefined;
  };
}

function integer(text: string, least: number, most: number): number | undefined {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

function databaseUrl(text: string): string | undefined {
  if (/^postgres(ql)?:\/\//.test(text)) return isServerUrl(text) ? text : undefined;
  return /^sqlite:(?!:memory:)(?!\/\/[^/]).+/.test(text) ? text : undefined;
}

function isServerUrl(text: string): boolean {
  const { hostname = '', pathname = '' } = URL.parse(text) ?? {};
  const isEncoded = !/%(?![\da-f]{2})/i.test(text);
  return hostname !== '' && /^\/[^/]+$/.test(pathname) && isEncoded;
}

/** Returns the URL without a slash at its end. */
function embeddingsUrl(text: string): string | undefined {
  if (text === 'local' || text === 'off') return text;
  const { protocol = '', username, password, search, hash } = URL.parse(text) ?? {};
  const isPlain = !username && !password && !search && !hash;
  return /^https?:$/.test(protocol) && isPlain ? text.replace(/\/+$/, '') : undefined;
}

/** A host name without a port, because a proxy in front of the service may use any port. */
function isHostName(name: string): boolean {
  return URL.parse(`http://${name}`)?.hostname === name;
}

function rateLimit(text: string): { requests: number; seconds: number } | null | undefined {
  if (text === 'off') return null;
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  if (requests === undefined) return undefined;
  return { requests: Number(requests), seconds: Number(seconds) };
}
