import type { Middleware } from './http.ts';

/*
 * Protections whose loss a client can imitate at the service's HTTP interface. They do not depend
 * on the code that implements the protection.
 */

const blockedMs = 40;

/** Every search of a user gets the response to the first one. */
export function searchOnce(): Middleware {
  const responses = new Map<string | null, Response>();
  return async (request, next) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== '/v1/memories/search') return next(request);
    const userId = searchParams.get('userId');
    const response = responses.get(userId) ?? (await next(request));
    // The types of `clone` are those of another library.
    if (response.ok) responses.set(userId, response.clone() as unknown as Response);
    return response;
  };
}

export const ignoreKeys: Middleware = (request, next) => {
  request.headers.delete('idempotency-key');
  return next(request);
};

/** Every export and every search of the heavy user blocks the HTTP thread. */
export const blockHttpThread: Middleware = (request, next) => {
  const isExpensive = /\/v1\/(export|memories\/search\?userId=heavy)/.test(request.url);
  if (isExpensive) Bun.sleepSync(blockedMs);
  return next(request);
};

/** Strings up to this length are parsed at normal speed. */
const fastLength = 1_000_000;
const addedMs = 200;

/** Makes the parsing of a large body block the thread. */
export function slowParse(): void {
  const parse = JSON.parse;
  JSON.parse = (text, reviver) => {
    if (text.length > fastLength) Bun.sleepSync(addedMs);
    return parse(text, reviver);
  };
}
