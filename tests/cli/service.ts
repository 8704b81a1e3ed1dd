import type { TestServer } from '../support/server.ts';

/** Starts a service that responds as the test says. `env` makes the CLI use it. */
export function startService(fetch: (request: Request) => Response | Promise<Response>) {
  const service = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch });
  return {
    env: { MEMORY_BASE_URL: `http://127.0.0.1:${service.port}` },
    [Symbol.asyncDispose]: () => service.stop(true),
  };
}

/** Sends a request on to the server. */
export async function forward(request: Request, { url }: TestServer): Promise<Response> {
  const { method, headers } = request;
  const { pathname, search } = new URL(request.url);
  const body = method === 'GET' ? null : await request.arrayBuffer();
  return fetch(url + pathname + search, { method, headers, body });
}
