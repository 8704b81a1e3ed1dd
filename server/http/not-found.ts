import { Elysia } from 'elysia';
import { ServiceError } from '../errors.ts';
import type { Auth } from './auth.ts';
import type { DocumentedRoute } from './openapi/routes.ts';

type Route = Pick<DocumentedRoute, 'method' | 'path'>;

/** Rejects every path under /v1 that no route matches. These paths require an API key, too. */
export function unknownRoutes(auth: Auth, routes: () => readonly DocumentedRoute[]) {
  const reject = ({ request }: { request: Request }) => {
    throw noSuchRoute(request, routes());
  };
  return new Elysia().use(auth.reading).all('/v1', reject).all('/v1/*', reject);
}

/** Returns a 405 error if the path exists with another method, otherwise a 404 error. */
export function noSuchRoute({ url }: Request, routes: readonly Route[]): ServiceError {
  const { pathname } = new URL(url);
  const matching = routes.filter(({ path }) => matches(path, pathname));
  // /v1/memories/search also matches /v1/memories/:id.
  const exact = matching.filter(({ path }) => path === pathname);
  const methods = (exact.length > 0 ? exact : matching).map(({ method }) => method);
  if (methods.length === 0) {
    return new ServiceError('not_found', 'no such route; see /openapi.json for all routes');
  }
  // A route that supports GET supports HEAD as well.
  const all = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const allow = [...new Set(all)].sort().join(', ');
  return new ServiceError('method_not_allowed', `this route allows ${allow}`, { allow });
}

/** Whether the path is that of a route. The router takes `search` for an id in a PATCH request. */
export function isRoute({ url }: Request, routes: readonly DocumentedRoute[]): boolean {
  const { pathname } = new URL(url);
  return routes.some(({ path }) => path === pathname);
}

function matches(path: string, pathname: string): boolean {
  const steps = pathname.split('/');
  const expected = path.split('/');
  return (
    steps.length === expected.length &&
    expected.every((step, at) => (step.startsWith(':') ? steps[at] !== '' : step === steps[at]))
  );
}
