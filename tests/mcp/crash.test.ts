import { afterAll, expect, test } from 'bun:test';
import { MemoryClient } from '../../sdk/index.ts';
import { program } from '../cli/shell.ts';
import { withFolder } from '../support/folder.ts';
import { startServing } from '../support/process.ts';
import type { TestServer } from '../support/server.ts';
import { proxyTo } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { connectTo, ways } from './connect.ts';

/* If the service is killed after a save is stored, a retry must not create a second memory. */

const apiKey = 'mk_of_the_crash_test';
const env = { MEMORY_API_KEY: apiKey, LOG_LEVEL: 'silent' };
const folder = withFolder();
const startService = () => startServing(program, folder.file('memory.db'), env);
let service = await startService();
const proxy = proxyTo(service.url);
const url = new URL(proxy.url).origin;
const client = new MemoryClient({ apiKey, baseUrl: url });
afterAll(async () => {
  proxy.stop();
  await service.end('SIGKILL');
});

test.each(ways.filter(({ version }) => version === '2026-07-28'))(
  'kill -9 before the response to a save neither loses nor duplicates the memory: $transport',
  async (way) => {
    const userId = `${way.transport} ${way.version}`;
    const stored = async () => (await client.list({ userId })).items;
    await using memory = await connectTo({ url, key: apiKey } as TestServer, way, { userId });
    const before = await memory.call('save_memory', { content: 'Before' });
    proxy.loseAnswerTo(way.transport === 'http' ? 'POST /mcp' : 'POST /v1/memories');
    const save = () => memory.call('save_memory', { content: 'Meanwhile' }).catch(String);
    const first = save();
    await until(async () => (await stored()).length === 2, { what: 'the save' });
    await service.end('SIGKILL');
    service = await startService();
    proxy.moveTo({ hostname: '127.0.0.1', port: Number(new URL(service.url).port) });
    let last = await first;
    while (!/^(?:Saved|Already)/.test(last)) last = await save();
    const items = await stored();
    expect(items.map(({ content }) => content)).toEqual(['Meanwhile', 'Before']);
    for (const [index, outcome] of [last, before].entries()) {
      expect(outcome).toContain(items[index]?.id ?? 'nothing');
    }
  },
);
