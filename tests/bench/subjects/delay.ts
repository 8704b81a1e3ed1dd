import type { Socket } from 'bun';
import { readSpec } from './spec.ts';

/*
 * A proxy that delays everything that clients send, like network latency in one direction. The
 * spec is { port, delayMs }.
 */

type Ends = { server: Socket<Ends> | null; rest: Buffer[] };

const { port, delayMs } = readSpec<{ port: number; delayMs: number }>();
const hostname = '127.0.0.1';

const listener = Bun.listen<Ends>({
  hostname,
  port: 0,
  socket: {
    async open(client) {
      client.data = { server: null, rest: [] };
      const ends: Ends = { server: null, rest: [] };
      const server = await Bun.connect<Ends>({
        hostname,
        port,
        data: ends,
        socket: {
          data: (_, bytes) => send(client, bytes),
          drain: flush,
          close: () => void client.end(),
        },
      });
      client.data.server = server;
    },
    data(client, bytes) {
      const copy = Buffer.from(bytes);
      setTimeout(() => forward(client, copy), delayMs);
    },
    drain: flush,
    close: (client) => void client.data.server?.end(),
  },
});

/** Retries until the connection to the server is open. */
function forward(client: Socket<Ends>, bytes: Buffer): void {
  const { server } = client.data;
  if (server === null) setTimeout(() => forward(client, bytes), 1);
  else send(server, bytes);
}

/** Writes as much as the socket accepts and keeps the rest until the socket drains. */
function send(socket: Socket<Ends>, bytes: Buffer): void {
  const { rest } = socket.data;
  if (rest.length > 0) {
    rest.push(Buffer.from(bytes));
    return;
  }
  const written = Math.max(0, socket.write(bytes));
  if (written < bytes.length) rest.push(Buffer.from(bytes.subarray(written)));
}

function flush(socket: Socket<Ends>): void {
  const { rest } = socket.data;
  for (;;) {
    const [first] = rest;
    if (first === undefined) return;
    const written = Math.max(0, socket.write(first));
    if (written < first.length) {
      rest[0] = first.subarray(written);
      return;
    }
    rest.shift();
  }
}

console.log(JSON.stringify({ url: `http://${hostname}:${listener.port}` }));
process.on('SIGTERM', () => process.exit(0));
