import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { MemoryClient } from '../../sdk/index.ts';
import { program } from '../cli/shell.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startServing } from '../support/process.ts';
import type { TestServer } from '../support/server.ts';
import { connectTo, ways } from './connect.ts';

/* If the service is killed after a save is stored, a retry must not create a second memory. */

const apiKey = 'mk_of_the_crash_test';
const folder = temporaryFolder();
let service: Awaited<ReturnType<typeof startServing>>;
let proxy: Server;
const open = new Set<Socket>();
/** When a request begins with this text, the proxy kills the service and drops the response. */
let fatal: string | undefined;

async function startService(): Promise<void> {
  const env = { MEMORY_API_KEY: apiKey, LOG_LEVEL: 'silent' };
  service = await startServing(program, folder.file('memory.db'), env);
}

async function startProxy(): Promise<string> {
  proxy = createServer((client) => {
    const upstream = connect(Number(new URL(service.url).port), '127.0.0.1');
    let request = '';
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (bytes) => {
      request += bytes.toString('latin1');
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (fatal !== undefined && request.startsWith(fatal)) {
        fatal = undefined;
        service.signal('SIGKILL');
        client.destroy();
      } else {
        request = '';
        client.write(bytes);
      }
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy.once('listening', resolve));
  const address = proxy.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

let url: string;
beforeAll(async () => {
  await startService();
  url = await startProxy();
});
afterAll(async () => {
  for (const socket of open) socket.destroy();
  proxy.close();
  await service.end('SIGKILL');
  folder[Symbol.dispose]();
});

test.each(ways.filter(({ version }) => version === '2026-07-28'))(
  'kill -9 before the response to a save neither loses nor duplicates the memory: $transport',
  async (way) => {
    const userId = `${way.transport} ${way.version}`;
    await using memory = await connectTo({ url, key: apiKey } as TestServer, way, { userId });
    const before = await memory.call('save_memory', { content: 'Before' });
    fatal = way.transport === 'http' ? 'POST /mcp' : 'POST /v1/memories';
    const killed = service.exited.then(startService);
    const save = () => memory.call('save_memory', { content: 'Meanwhile' }).catch(String);
    const outcomes = [await save()];
    await killed;
    while (!/^(?:Saved|Already)/.test(outcomes.at(-1) ?? '')) outcomes.push(await save());
    expect(fatal).toBeUndefined();
    const client = new MemoryClient({ apiKey, baseUrl: url });
    const { items } = await client.list({ userId });
    expect(items.map(({ content }) => content)).toEqual(['Meanwhile', 'Before']);
    for (const [index, outcome] of [outcomes.at(-1), before].entries()) {
      expect(outcome).toContain(items[index]?.id ?? 'nothing');
    }
  },
);
