import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';

const loopback = ['localhost', '127.0.0.1', '[::1]'];
const anyAddress = ['0.0.0.0', '::', ''];

/**
 * Rejects requests whose `Host` or `Origin` is neither the service's own nor allowed by the
 * settings. This prevents DNS rebinding, in which a web page makes its own host name resolve to
 * this machine. Throws `forbidden`.
 */
export function rejectForeignHosts(
  { headers }: Request,
  { host, mcpHosts, corsOrigins }: Pick<Config, 'host' | 'mcpHosts' | 'corsOrigins'>,
): void {
  const own = anyAddress.includes(host) ? [] : [host.includes(':') ? `[${host}]` : host];
  const known = new Set([...loopback, ...own, ...mcpHosts].map((name) => name.toLowerCase()));
  if (!known.has(hostnameOf(`http://${headers.get('host') ?? ''}`))) {
    throw forbidden(
      'the Host header names an unknown host; to allow it, add it to MEMORY_MCP_HOSTS',
    );
  }
  const origin = headers.get('origin');
  if (origin === null || corsOrigins.includes(origin) || known.has(hostnameOf(origin))) return;
  throw forbidden('the origin is not allowed; to allow it, add it to MEMORY_CORS_ORIGINS');
}

/** Whether the request names this machine, and not a name that DNS may let resolve to it. */
export function namesLoopback({ headers }: Request): boolean {
  const host = headers.get('host');
  return host === null || loopback.includes(hostnameOf(`http://${host}`));
}

function hostnameOf(url: string): string {
  return URL.parse(url)?.hostname ?? '';
}

function forbidden(message: string): ServiceError {
  return new ServiceError('forbidden', message);
}
