import { limits } from '../sdk/contract/limits.ts';
import { InvalidSettingsError } from './errors.ts';
import { type LogLevel, logLevels } from './log.ts';
import { unknownSettings } from './unknown-settings.ts';

export type Config = {
  port: number;
  host: string;
  databaseUrl: string;
  apiKey: string | null;
  corsOrigins: string[];
  /** Additional host names under which clients may reach /mcp. */
  mcpHosts: string[];
  logLevel: LogLevel;
  maxBodyBytes: number;
  /** Null disables the limit. */
  rateLimit: { requests: number; seconds: number } | null;
};

type Env = Record<string, string | undefined>;

const settingNames = [
  'PORT',
  'HOST',
  'LOG_LEVEL',
  'MEMORY_DATABASE_URL',
  'MEMORY_API_KEY',
  'MEMORY_CORS_ORIGINS',
  'MEMORY_MCP_HOSTS',
  'MEMORY_MAX_BODY_BYTES',
  'MEMORY_RATE_LIMIT',
] as const;

/** Visible ASCII characters, which need no encoding in a header. */
export const apiKeyPattern = /^[\x21-\x7e]{16,256}$/;

/** Reads all of the server's settings. Throws one Error that lists every problem. */
export function readConfig(env: Env): Config {
  const problems: string[] = [];
  function read<T>(
    name: (typeof settingNames)[number],
    fallback: T,
    parse: (text: string) => T | undefined,
    want: string,
  ) {
    const text = env[name];
    if (text === undefined || text === '') return fallback;
    const value = parse(text);
    if (value !== undefined) return value;
    problems.push(`${name} must be ${want}`);
    return fallback;
  }
  const config: Config = {
    port: read('PORT', 7070, (text) => integer(text, 0, 65_535), 'a port number, 0 to 65535'),
    host: read('HOST', '127.0.0.1', (text) => text, 'a host name or address'),
    databaseUrl: read(
      'MEMORY_DATABASE_URL',
      'sqlite:./data/memory.db',
      databaseUrl,
      'sqlite:<path>, such as sqlite:./data/memory.db, or postgres://<user>@<host>/<database>',
    ),
    apiKey: read('MEMORY_API_KEY', null, apiKey, '16 to 256 visible ASCII characters'),
    corsOrigins: read(
      'MEMORY_CORS_ORIGINS',
      [],
      origins,
      'a comma-separated list of origins such as https://app.example',
    ),
    mcpHosts: read(
      'MEMORY_MCP_HOSTS',
      [],
      hostNames,
      'a comma-separated list of host names such as memory.example',
    ),
    logLevel: read('LOG_LEVEL', 'info', logLevel, `one of ${logLevels.join(', ')}`),
    maxBodyBytes: read(
      'MEMORY_MAX_BODY_BYTES',
      limits.bodyBytesDefault,
      (text) => integer(text, 1_024, 1_073_741_824),
      'a number of bytes from 1024 to 1073741824',
    ),
    rateLimit: read(
      'MEMORY_RATE_LIMIT',
      { requests: 6_000, seconds: 60 },
      rateLimit,
      '<requests>/<seconds>, such as 6000/60, or off',
    ),
  };
  if (problems.length > 0) {
    throw new InvalidSettingsError(`Invalid settings:\n  ${problems.join('\n  ')}`);
  }
  return config;
}

/** Returns a warning for each misspelled setting. */
export function settingWarnings(env: Env): string[] {
  return unknownSettings(env, settingNames);
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
  if (!URL.canParse(text)) return false;
  const { hostname, pathname } = new URL(text);
  return hostname !== '' && /^\/[^/]+$/.test(pathname);
}

function apiKey(text: string): string | undefined {
  return apiKeyPattern.test(text) ? text : undefined;
}

function logLevel(text: string): LogLevel | undefined {
  return logLevels.find((level) => level === text);
}

function origins(text: string): string[] | undefined {
  const list = text.split(',').map((origin) => origin.trim());
  return list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
    ? list
    : undefined;
}

/** Parses host names without ports, because a proxy in front of the service may use any port. */
function hostNames(text: string): string[] | undefined {
  const list = text.split(',').map((name) => name.trim().toLowerCase());
  return list.every((name) => URL.parse(`http://${name}`)?.hostname === name) ? list : undefined;
}

function rateLimit(text: string): Config['rateLimit'] | undefined {
  if (text === 'off') return null;
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  if (requests === undefined) return undefined;
  return { requests: Number(requests), seconds: Number(seconds) };
}
