import { join } from 'node:path';
import { startTestServer } from '../../support/server.ts';

/* A server for the conformance suite, behind a proxy that adds the key. Prints the URL of /mcp. */

const server = await startTestServer({}, [join(import.meta.dir, 'fixtures.ts')]);
const key = await server.createKey('default', { userId: 'conformance' });

const proxy = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.set('authorization', `Bearer ${key}`);
    return fetch(server.url + pathname + search, {
      method: request.method,
      headers,
      body: request.body,
      redirect: 'manual',
    });
  },
});

console.log(`http://127.0.0.1:${proxy.port}/mcp`);
