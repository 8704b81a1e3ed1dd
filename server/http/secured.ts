import { Elysia } from 'elysia';
import { headers as headerNames } from '../../sdk/contract/headers.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { Authenticator, Caller } from './authenticate.ts';
import { bodyUnread } from './body.ts';
import { routes } from './routes.ts';
import { createWindow } from './window.ts';

/** A restart takes about this long. */
const retryAfterSeconds = 5;

export type Secured = ReturnType<typeof secured>;

/**
 * What stands before every route under /v1: the key, then the rate limit, both before the body is
 * read. It is attached to the routes themselves and never asks the path, which a crafted request
 * can make the router and us read differently.
 */
export function secured(options: {
  authenticator: Authenticator;
  rateLimit: Config['rateLimit'];
  clock(): number;
  addressOf(request: Request): string;
  unavailableReason(): string | null;
}) {
  const { authenticator, addressOf, unavailableReason } = options;
  const limit = createLimit(options.rateLimit, options.clock);
  return new Elysia({ name: 'secured' }).derive(
    { as: 'scoped' },
    async function authorize({ request, set }): Promise<{ caller: Caller }> {
      const reason = unavailableReason();
      if (reason !== null) throw new ServiceError('unavailable', reason, { retryAfterSeconds });
      const header = request.headers.get(headerNames.authorization);
      const caller = await authenticator.authenticate(header, () => addressOf(request));
      limit(caller, set.headers);
      return { caller };
    },
  );
}

function createLimit(rateLimit: Config['rateLimit'], clock: () => number) {
  if (rateLimit === null) return () => {};
  const { requests, seconds } = rateLimit;
  const window = createWindow(requests, seconds, clock);
  const policy = `"default";q=${requests};w=${seconds}`;
  return ({ projectId }: Caller, headers: Record<string, string | number>) => {
    const { left, resetSeconds } = window.count(String(projectId));
    headers[headerNames.rateLimitPolicy] = policy;
    headers[headerNames.rateLimit] = `"default";r=${Math.max(0, left)};t=${resetSeconds}`;
    if (left >= 0) return;
    throw new ServiceError(
      'rate_limited',
      `more than ${requests} requests in ${seconds} seconds; try again in ${resetSeconds} s`,
      { retryAfterSeconds: resetSeconds },
    );
  };
}

/** Paths without a parameter first: /v1/memories/search is no memory. */
const patterns = Object.values(routes)
  .toSorted((a, b) => Number(a.path.includes(':')) - Number(b.path.includes(':')))
  .map(({ method, path }) => ({
    method,
    path,
    pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`),
  }));

/** Every path under /v1 that no route takes. */
export function unknownRoutes(guard: Secured) {
  const refuse = ({ request }: { request: Request }) => {
    throw noSuchRoute(request);
  };
  return new Elysia().use(guard).all('/v1', refuse, bodyUnread).all('/v1/*', refuse, bodyUnread);
}

/** 404, or 405 where another method would do. */
export function noSuchRoute({ url }: Request): ServiceError {
  const { pathname } = new URL(url);
  const route = patterns.find(({ pattern }) => pattern.test(pathname));
  const methods = patterns.filter(({ path }) => path === route?.path).map((p) => p.method);
  if (methods.length === 0) {
    return new ServiceError('not_found', 'there is no such route; /openapi.json lists them');
  }
  // Whoever answers GET answers HEAD.
  const all = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const allow = [...new Set(all)].sort().join(', ');
  return new ServiceError('method_not_allowed', `this route allows ${allow}`, { allow });
}
