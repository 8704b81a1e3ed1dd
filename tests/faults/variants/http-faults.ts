import { faultKey } from '../target.ts';
import type { Middleware } from './http.ts';

/*
 * Protections whose loss a client can imitate at the service's HTTP interface. They do not depend
 * on the code that implements the protection.
 */

const blockedMs = 40;
const byId = /\/v1\/memories\/mem_[^/?]*(\/status)?$/;
const keyOf = (request: Request) => request.headers.get('idempotency-key');

/** The types of `clone` are those of another library. */
function copyOf<T extends Request | Response>(original: T): T {
  return original.clone() as unknown as T;
}

/** The project's own key takes the place of the request's key. */
function asProject(request: Request): Request {
  request.headers.set('authorization', `Bearer ${faultKey}`);
  return request;
}

/** Returns the first response for each name again. Requests without a name are passed on. */
function remembering(nameOf: (request: Request) => string | null): Middleware {
  const responses = new Map<string, Response>();
  return async (request, next) => {
    const name = nameOf(request);
    const known = name === null ? undefined : responses.get(name);
    if (known !== undefined) return copyOf(known);
    const response = await next(request);
    if (name !== null && response.ok) responses.set(name, copyOf(response));
    return response;
  };
}

export const searchOnce = remembering(({ url }) => {
  const { pathname, searchParams } = new URL(url);
  return pathname === '/v1/memories/search' ? searchParams.get('userId') : null;
});

/** The replays of an ingest do not change when its memory is deleted. */
export const keepReplays = remembering((request) =>
  request.url.includes('/v1/ingest') ? keyOf(request) : null,
);

export const ignoreKeys: Middleware = (request, next) => {
  request.headers.delete('idempotency-key');
  return next(request);
};

/** Every request with a known idempotency key counts as the first one with that key. */
export function acceptAnyRequest(): Middleware {
  const firsts = new Map<string, Request>();
  return (request, next) => {
    const key = keyOf(request);
    if (key === null) return next(request);
    const name = `${request.headers.get('authorization')} ${key}`;
    const first = firsts.get(name) ?? request;
    firsts.set(name, first);
    return next(copyOf(first));
  };
}

export const ignoreProject: Middleware = (request, next) =>
  next(byId.test(request.url) ? asProject(request) : request);

/** A memory with an expiry that was read before is still returned when it has expired. */
export function keepExpired(): Middleware {
  const known = new Map<string, string>();
  return async (request, next) => {
    const response = await next(request);
    if (request.method !== 'GET' || !byId.test(request.url)) return response;
    const kept = known.get(request.url);
    if (response.status === 404 && kept !== undefined) return new Response(kept);
    const text = await copyOf(response).text();
    if (response.ok && JSON.parse(text).expiresAt) known.set(request.url, text);
    return response;
  };
}

/** For requests to the path, a key that is bound to a user counts as one of the whole project. */
export function unbound(path: string): Middleware {
  return async (request, next) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname !== path) return next(request);
    const authorization = request.headers.get('authorization') ?? '';
    const about = await next(new Request(`${origin}/v1/key`, { headers: { authorization } }));
    const { userId, readOnly } = (await about.json()) as { userId?: unknown; readOnly?: boolean };
    const isFree = typeof userId === 'string' && (request.method === 'GET' || readOnly === false);
    return next(isFree ? asProject(request) : request);
  };
}

/** A key that was accepted once is accepted for ever. */
export function acceptRevokedKeys(): Middleware {
  const accepted = new Set<string>();
  return async (request, next) => {
    const name = request.headers.get('authorization') ?? '';
    const again = copyOf(request);
    const response = await next(request);
    if (![401, 429].includes(response.status)) accepted.add(name);
    else if (accepted.has(name)) return next(asProject(again));
    return response;
  };
}

/** Acknowledges a batch that the full queue has rejected. */
export const acknowledgeRejected: Middleware = async (request, next) => {
  const response = await next(request);
  if (response.status !== 429 || !request.url.includes('/v1/ingest')) return response;
  return Response.json({ items: [{ memoryId: 'mem_dropped' }] }, { status: 202 });
};

export const normaliseText: Middleware = async (request, next) => {
  const response = await next(request);
  const { status, headers } = response;
  headers.delete('content-length');
  return new Response((await response.text()).normalize('NFC'), { status, headers });
};

export const throwInStatus: Middleware = (request, next) => {
  if (/7[^/]*\/status$/.test(request.url)) throw new TypeError('undefined is not an object');
  return next(request);
};

/** Every export and every search of the heavy user blocks the HTTP thread. */
export const blockHttpThread: Middleware = (request, next) => {
  const isExpensive = /\/v1\/(export|memories\/search\?userId=heavy)/.test(request.url);
  if (isExpensive) Bun.sleepSync(blockedMs);
  return next(request);
};
