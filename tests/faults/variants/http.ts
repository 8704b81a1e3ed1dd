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
