import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { withServer } from '../support/server.ts';
import { chunked, dial, head } from '../support/socket.ts';

/*
 * An error that is known before the body has arrived reaches clients that read the response only
 * after they have sent the whole body, and ask to close the connection, as Python's urllib does.
 */

const MB = 1_000_000;
/** More than the buffers of a socket hold, and nearly as much as the service reads. */
const [some, most] = [20 * MB, 60 * MB];

const server = await withServer();
const limited = await withServer({ MEMORY_RATE_LIMIT: '1/3600' });
await fetch(`${limited.url}/v1/key`, { headers: { authorization: `Bearer ${limited.key}` } });
const unknown = { ...server, key: 'wrong' };
const readOnly = { ...server, key: await server.createKey('default', { readOnly: true }) };
const json = 'Content-Type: application/json';
const save = 'POST /v1/memories';

test.each<[status: number, request: string, to: typeof server, bytes: number, ...more: string[]]>([
  [413, save, server, most, json],
  [413, save, server, some, json],
  [413, save, server, some, json, 'Transfer-Encoding: chunked'],
  [429, save, limited, some, json],
  [401, save, unknown, some, json],
  [401, save, unknown, most, json, 'Transfer-Encoding: chunked'],
  [403, save, readOnly, some, json],
  [404, 'POST /nothing', server, some, json],
  [405, 'PUT /v1/memories', server, some, json],
  [415, save, server, some, 'Content-Type: text/plain'],
])('a %i for %s is received', async (status, request, to, bytes, ...lines) => {
  const [method = '', path = ''] = request.split(' ');
  const isChunked = lines.length > 1;
  const body = isChunked ? chunked(Buffer.alloc(bytes, ' ')) : Buffer.alloc(bytes, ' ');
  if (!isChunked) lines.push(`Content-Length: ${bytes}`);
  const socket = dial(to).pause();
  const closed = once(socket, 'close').then(() => ['nothing']);
  socket.write(head(to, method, path, 'Connection: close', ...lines));
  await Promise.race([closed, new Promise((sent) => void socket.write(body, sent))]);
  const [received] = await Promise.race([closed, once(socket.resume(), 'data')]);
  expect(String(received)).toStartWith(`HTTP/1.1 ${status} `);
  socket.destroy();
});
