import type { Config } from './config.ts';
import { errorResponse } from './http/errors.ts';
import { newRequestId } from './ids.ts';
import type { Logger } from './log.ts';

export type Listener = {
  url: string;
  addressOf(request: Request): string;
  /** Keeps the connection longer than others while there is nothing to be sent. */
  waitLonger(request: Request): void;
  /** Closes the connection soon, even while its client goes on sending. */
  closeSoon(request: Request): void;
  /** Takes no more connections and waits for the requests in hand, but not for ever. */
  stop(): Promise<void>;
};

/** Longer than the proxies keep theirs, or they would send into a connection that just closed. */
const idleTimeoutSeconds = 75;
/** Of a request that waits for its turn; the most that Bun takes. */
const longestWaitSeconds = 255;
/** For a client that writes all of its body before it reads. */
const closeSoonSeconds = 5;
/** Less than what container runtimes allow before they kill. */
const stopWithinMs = 5_000;

/** Throws an Error that says what to do where the address cannot be had. */
export function listen(
  config: Config,
  fetch: (request: Request) => Response | Promise<Response>,
  log: Logger,
): Listener {
  const server = open(config, fetch, log);
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return {
    url: `http://${host}:${server.port}`,
    addressOf: (request) => server.requestIP(request)?.address ?? '',
    waitLonger: (request) => server.timeout(request, longestWaitSeconds),
    closeSoon: (request) => server.timeout(request, closeSoonSeconds),
    async stop() {
      const deadline = setTimeout(() => server.stop(true), stopWithinMs);
      await server.stop();
      clearTimeout(deadline);
    },
  };
}

function open(
  config: Config,
  fetch: (request: Request) => Response | Promise<Response>,
  log: Logger,
) {
  try {
    return Bun.serve({
      port: config.port,
      hostname: config.host,
      // Else a second server would share the port without a word.
      reusePort: false,
      development: false,
      idleTimeout: idleTimeoutSeconds,
      // The app counts, and answers with an error in JSON. While a request is handled, Bun reads no
      // more of its body than is asked for.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request) => fetch(withHost(request)),
      error(error) {
        log.error('a request met a fault', { error });
        return errorResponse(error, newRequestId(), {});
      },
    });
  } catch (error) {
    const busy = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    const why = busy
      ? 'the port is in use. Stop what runs there, or choose another with --port or PORT.'
      : 'the address is not to be had here. Look at --host and --port, or HOST and PORT.';
    throw new Error(`cannot listen on ${config.host}:${config.port}: ${why}`, { cause: error });
  }
}

/** HTTP/1.0 needs no Host, and load balancers probe like that; without one there is no URL. */
function withHost(request: Request): Request {
  if (!request.url.startsWith('/') || request.headers.has('host')) return request;
  return new Request(`http://localhost${request.url}`, request);
}
