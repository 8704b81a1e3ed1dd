import { Elysia } from 'elysia';
import { ServiceError } from '../errors.ts';
import type { Auth } from './auth.ts';
import { bodyUnread } from './body.ts';
import { routes } from './routes.ts';

/** Paths without a parameter come first: /v1/memories/search also matches /v1/memories/:id. */
const patterns = Object.values(routes)
  .toSorted((a, b) => Number(a.path.includes(':')) - Number(b.path.includes(':')))
  .map(({ method, path }) => ({
    method,
    path,
    pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`),
  }));

/** Rejects every path under /v1 that no route matches. These paths require an API key, too. */
export function unknownRoutes(auth: Auth) {
  const reject = ({ request }: { request: Request }) => {
    throw noSuchRoute(request);
  };
  return new Elysia()
    .use(auth.reading)
    .all('/v1', reject, bodyUnread)
    .all('/v1/*', reject, bodyUnread);
}

/** Returns a 405 error if the path exists with another method, otherwise a 404 error. */
export function noSuchRoute({ url }: Request): ServiceError {
  const { pathname } = new URL(url);
  const route = patterns.find(({ pattern }) => pattern.test(pathname));
  const methods = patterns.filter(({ path }) => path === route?.path).map((one) => one.method);
  if (methods.length === 0) {
    return new ServiceError('not_found', 'no such route; see /openapi.json for all routes');
  }
  // A route that supports GET supports HEAD as well.
  const all = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const allow = [...new Set(all)].sort().join(', ');
  return new ServiceError('method_not_allowed', `this route allows ${allow}`, { allow });
}
