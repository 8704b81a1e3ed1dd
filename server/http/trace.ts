import * as headerNames from '../../sdk/contract/headers.ts';
import { newRequestId } from '../ids.ts';
import { count, observeMs } from '../metrics/counts.ts';
import type { Caller } from './authenticate.ts';
import type { ResponseHead } from './response.ts';
import type { Services } from './services.ts';

/** A request, and what is known of it when its response is sent. */
export type Ended = {
  request: Request;
  /** The route's pattern; undefined if no route matched. */
  route?: string | undefined;
  set: Progress;
  /** Undefined for a request without a valid key, or over its rate limit. */
  caller?: Caller | undefined;
};

/** Elysia's `set`, which exists from a request's arrival until its response. */
type Progress = ResponseHead & { arrivedAt?: number };

/** Monitoring requests these routes every few seconds, so they are logged at the level debug. */
const monitored = new Set(['/health', '/health/live', '/metrics']);

/** Assigns an id to each request, and counts and logs it when its response is sent. */
export function createTrace({
  log,
  clock,
  addressOf,
}: Pick<Services, 'log' | 'clock' | 'addressOf'>) {
  const sample = createSampler(clock);
  return {
    begin({ headers }: Request, set: Progress): void {
      set.arrivedAt = clock();
      set.headers[headerNames.requestId] = clientRequestId(headers) ?? newRequestId();
    },
    end({ request, route, set, caller }: Ended): void {
      const status = Number(set.status ?? 200); // mutate-ignore constant: Elysia has set the status
      const at = clock();
      const durationMs = at - (set.arrivedAt ?? at);
      countRequest(request, route, status, durationMs);
      const level = monitored.has(route ?? '') ? 'debug' : 'info';
      // Clients without a valid key or over their rate limit can send any number of requests.
      const suppressed = caller === undefined ? sample(`${level} ${status}`) : 0;
      if (suppressed === null) return;
      log[level]('request', () => ({
        requestId: String(set.headers[headerNames.requestId]),
        traceparent: traceparent(request.headers),
        address: addressOf(request) || undefined,
        method: request.method,
        route: route ?? '(none)',
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        project: caller?.project,
        keyLastFour: caller?.lastFour,
        suppressed: suppressed > 0 ? suppressed : undefined,
      }));
    },
  };
}

const classes = ['', '1xx', '2xx', '3xx', '4xx', '5xx'];

function countRequest({ method }: Request, route = '', status: number, durationMs: number): void {
  count('memory_http_requests_total', {
    route,
    method,
    status: classes[Math.trunc(status / 100)] ?? '',
  });
  observeMs('memory_http_request_duration_seconds', { route, method }, durationMs);
}

/** Returns the client's request id; null if it is missing or malformed. */
function clientRequestId(headers: Headers): string | null {
  const id = headers.get(headerNames.requestId);
  return id !== null && /^[\x21-\x7e]{1,128}$/.test(id) ? id : null;
}

const traceparentPattern =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Returns the request's W3C trace context, or undefined if it is invalid: free text must not be
 * logged.
 */
function traceparent(headers: Headers): string | undefined {
  const value = headers.get('traceparent');
  return value !== null && traceparentPattern.test(value) ? value : undefined;
}

/** The capacity of the token bucket and its refill rate per second, in log lines. */
const burst = 20;
const perSecond = 2;

/**
 * `clock` is monotonic, in ms. The returned function returns the number of lines suppressed since
 * the last logged line, or null to suppress this line.
 */
function createSampler(clock: () => number) {
  const kinds = new Map<string, { tokens: number; at: number; suppressed: number }>();
  return (kind: string): number | null => {
    const at = clock();
    const state = kinds.get(kind) ?? { tokens: burst, at, suppressed: 0 };
    kinds.set(kind, state);
    state.tokens = Math.min(burst, state.tokens + ((at - state.at) / 1_000) * perSecond);
    state.at = at;
    if (state.tokens < 1) {
      state.suppressed += 1;
      return null;
    }
    const { suppressed } = state;
    state.tokens -= 1;
    state.suppressed = 0;
    return suppressed;
  };
}
