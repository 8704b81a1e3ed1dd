import type { Config } from '../config.ts';
import { newRequestId } from '../ids.ts';
import type { Logger } from '../log.ts';
import { errorResponse } from './errors.ts';

export type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * Longer than the idle timeouts of common proxies. With a shorter timeout, a proxy could send a
 * request on a connection that the server has just closed.
 */
const idleTimeoutSeconds = 75;
/** The idle timeout while a request waits in a queue. Bun accepts no higher value. */
const maxWaitSeconds = 255;
/**
 * The idle timeout after `closeSoon`. Some clients read the response only after sending the whole
 * body.
 */
const closeSoonSeconds = 5;
/** Shorter than the ten seconds that container runtimes usually wait before they kill a process. */
const stopWithinMs = 5_000;

export type Listener = ReturnType<typeof listen>;

/** Throws an Error with advice if the address is not available. */
export function listen(config: Config, fetch: Fetch, log: Logger) {
  const server = open(config, fetch, log);
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return {
    /** The address that the service listens on. */
    url: `http://${host}:${server.port}`,
    /** Returns the address of the client or of the proxy that is connected; '' if there is none. */
    peerOf: (request: Request) => server.requestIP(request)?.address ?? '',
    /** Extends the idle timeout of a request that may wait in a queue. */
    waitLonger: (request: Request) => server.timeout(request, maxWaitSeconds),
    /** Returns how many requests have arrived whose responses have not been sent. */
    inFlight: () => server.pendingRequests,
    /** Closes the connection soon, even if the client is still sending. */
    closeSoon: (request: Request) => server.timeout(request, closeSoonSeconds),
    /** Stops accepting connections and waits for in-flight requests, up to a time limit. */
    async stop(): Promise<void> {
      using _deadline = setTimeout(() => server.stop(true), stopWithinMs);
      await server.stop();
    },
  };
}

function open(config: Config, fetch: Fetch, log: Logger) {
  try {
    return Bun.serve({
      port: config.port,
      hostname: config.host,
      // With port reuse, a second server would silently share the port.
      reusePort: false,
      // mutate-ignore boolean: errors have a handler
      development: false,
      idleTimeout: idleTimeoutSeconds,
      // The app enforces the body limit and responds with a JSON error. Bun reads only as much of
      // the body as the app requests.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request) => fetch(withHost(request)),
      error(error) {
        log.error('unhandled error while serving request', { error });
        return errorResponse(error, newRequestId(), {});
      },
    });
  } catch (error) {
    const busy = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    const reason = busy
      ? 'the port is in use. Stop the other program, or choose another port with --port or PORT.'
      : 'address not available. Check --host and --port, or HOST and PORT.';
    throw new Error(`cannot listen on ${config.host}:${config.port}: ${reason}`, { cause: error });
  }
}

/**
 * Adds a host to the URL of an HTTP/1.0 request that has no Host header, such as a load balancer's
 * probe.
 */
function withHost(request: Request): Request {
  // mutate-ignore operand: only such URLs lack a Host header
  if (!request.url.startsWith('/') || request.headers.has('host')) return request;
  return new Request(`http://localhost${request.url}`, request);
}
