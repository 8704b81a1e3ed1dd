import type { IngestStatuses } from '../../sdk/index.ts';
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

/** Starts a proxy that changes the statuses which a wait reads, and counts those of each read. */
export function statusProxy(
  server: TestServer,
  change: (memoryId: string) => object | Promise<object>,
) {
  const reads: number[] = [];
  const service = startService(async (request) => {
    const answer = await forward(request, server);
    if (!request.url.endsWith('/v1/memories/status')) return answer;
    const shown = (await answer.json()) as IngestStatuses;
    reads.push(shown.items.length);
    for (const one of shown.items) Object.assign(one, await change(one.memoryId));
    return Response.json(shown);
  });
  return { ...service, reads };
}
