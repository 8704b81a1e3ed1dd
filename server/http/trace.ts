import { headers as headerNames } from '../../sdk/contract/headers.ts';
import type { Logger } from '../log.ts';
import type { Caller } from './authenticate.ts';

/** Writes one line for each request, when its answer is on the way. */
export type Trace = {
  arrived(request: Request): void;
  answered(context: {
    request: Request;
    /** The route's pattern; undefined where no route took the request. */
    route?: string | undefined;
    set: { status?: number | string; headers: Record<string, string | number> };
    caller?: Caller | undefined;
  }): void;
};

export function createTrace(log: Logger): Trace {
  const arrivedAt = new WeakMap<Request, number>();
  return {
    arrived: (request) => arrivedAt.set(request, performance.now()),
    answered({ request, route, set, caller }) {
      const now = performance.now();
      const durationMs = Math.round((now - (arrivedAt.get(request) ?? now)) * 10) / 10;
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
