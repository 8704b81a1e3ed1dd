import { headers as headerNames } from '../../sdk/contract/headers.ts';
import type { Logger } from '../log.ts';
import type { Caller } from './authenticate.ts';

/** Writes one line for each request, when its answer is on the way. */
export type Trace = {
  arrived(set: Progress): void;
  answered(context: {
    request: Request;
    /** The route's pattern; undefined where no route took the request. */
    route?: string | undefined;
    set: Progress;
    caller?: Caller | undefined;
  }): void;
};

/** Elysia's `set` goes along with a request from its arrival to its answer. */
type Progress = {
  status?: number | string;
  headers: Record<string, string | number>;
  arrivedAt?: number;
};

export function createTrace(log: Logger): Trace {
  return {
    arrived(set) {
      set.arrivedAt = performance.now();
    },
    answered({ request, route, set, caller }) {
      const now = performance.now();
      const durationMs = Math.round((now - (set.arrivedAt ?? now)) * 10) / 10;
      log.info('request', {
        requestId: String(set.headers[headerNames.requestId]),
        method: request.method,
        route: route ?? '(none)',
        status: Number(set.status ?? 200),
        durationMs,
        project: caller?.project,
        keyLastFour: caller?.keyLastFour,
      });
    },
  };
}
