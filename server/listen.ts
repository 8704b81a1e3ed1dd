import type { Config } from './config.ts';
import { discardedLimits } from './http/body.ts';
import { errorResponse } from './http/errors.ts';
import { newRequestId } from './ids.ts';
import type { Logger } from './log.ts';

export type Listener = {
  url: string;
  addressOf(request: Request): string;
  /** Keeps the connection longer than others while there is nothing to be sent. */
  waitLonger(request: Request): void;
  /** Takes no more connections and waits for the requests in hand, but not for ever. */
  stop(): Promise<void>;
};

/** A connection without a byte in either direction is closed after this long. */
const idleTimeoutSeconds = 30;
/** Of a request that waits for its turn; the most that Bun takes. */
const longestWaitSeconds = 255;
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
      // The backstop; the app counts and answers below it.
      maxRequestBodySize: config.maxBodyBytes * discardedLimits,
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
