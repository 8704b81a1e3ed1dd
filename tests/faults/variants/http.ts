/*
 * Protections whose loss a client can imitate at the service's HTTP interface. They do not depend
 * on the code that implements the protection.
 */

/** Handles a request, or passes it on. */
export type Middleware = (request: Request, next: Next) => Response | Promise<Response>;
type Next = (request: Request) => Promise<Response>;

type ServeOptions = { fetch(request: Request, server: unknown): Response | Promise<Response> };

/** Makes the middleware handle every request to a server that this thread starts. */
export function interceptHttp(middleware: Middleware[]): void {
  const serve = Bun.serve;
  Bun.serve = ((options: ServeOptions) => {
    const fetch = (request: Request, server: unknown) => {
      const app: Next = async (passed) => options.fetch(passed, server);
      const all = middleware.reduce<Next>((next, one) => async (passed) => one(passed, next), app);
      return all(request);
    };
    return serve({ ...options, fetch } as never);
  }) as typeof serve;
}

/** Sends each request of this process with a random idempotency key. */
export function randomKeys(): void {
  const { fetch } = globalThis;
  const keys = new Map<string, string>();
  const withRandomKey = (input: string | URL | Request, init?: RequestInit) => {
    const headers = new Headers(init?.headers);
    const key = headers.get('idempotency-key');
    if (key !== null) {
      if (!keys.has(key)) keys.set(key, crypto.randomUUID());
      headers.set('idempotency-key', keys.get(key) ?? '');
    }
    return fetch(input, { ...init, headers });
  };
  globalThis.fetch = Object.assign(withRandomKey, fetch);
}

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
