import { type AddressInfo, connect, createServer } from 'node:net';
import { readSpec } from './spec.ts';

/*
 * A proxy that delays everything that clients send, like network latency in one direction. The
 * spec is { port, delayMs }.
 */
const { port, delayMs } = readSpec<{ port: number; delayMs: number }>();
const hostname = '127.0.0.1';

const listener = createServer({ noDelay: true }, (client) => {
  const server = connect({ port, host: hostname, noDelay: true });
  client.on('data', (bytes) => setTimeout(() => server.write(bytes), delayMs));
  server.pipe(client);
  client.on('close', () => server.destroy());
  for (const socket of [client, server]) socket.on('error', () => client.destroy());
});

listener.listen(0, hostname, () => {
  console.log(
    JSON.stringify({ url: `http://${hostname}:${(listener.address() as AddressInfo).port}` }),
  );
});
process.on('SIGTERM', () => process.exit(0));
