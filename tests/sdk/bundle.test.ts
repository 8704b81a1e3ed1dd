import { beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { aMemory, json, refusal, stalled, startFaultServer } from '../support/fault-server.ts';
import { withFolder } from '../support/folder.ts';
import { apiKey } from './client-of.ts';

const folder = withFolder();
let bundle = '';

beforeAll(async () => {
  const entrypoints = [join(import.meta.dir, '../../sdk/index.ts')];
  const options = { outdir: folder.path, target: 'browser', minify: true } as const;
  const [output] = (await Bun.build({ entrypoints, ...options })).outputs;
  if (output === undefined) throw new Error('nothing was built');
  bundle = folder.file('index.mjs');
  await Bun.write(bundle, output);
});

test('the bundle does not contain the schema library', async () => {
  expect(await Bun.file(bundle).text()).not.toContain('TypeBox');
});

const script = `
  const { MemoryClient, NotFoundError, TimeoutError } = await import(process.argv[1]);
  const memory = new MemoryClient({ retryDelayMs: 1, timeoutMs: 200 });
  const names = [];
  const note = (error) => names.push(error.name, error instanceof NotFoundError, error.attempts);
  const saved = await memory.save({ userId: 'u-1', content: 'x' });
  await memory.get('a').catch(note);
  await memory.get('b', { timeoutMs: 50 }).then((found) => names.push(found.id), note);
  console.log(JSON.stringify([saved.id, ...names]));
`;

test.if(Bun.which('node') !== null)('the bundle works on Node', async () => {
  const found = json(200, aMemory);
  const saved = json(201, aMemory);
  const busy = refusal(503, 'unavailable');
  using server = startFaultServer(busy, saved, refusal(404, 'not_found'), stalled, found);
  const command = ['node', '--input-type=module', '--eval', script, '--', bundle];
  const env = { ...process.env, MEMORY_API_KEY: apiKey, MEMORY_BASE_URL: server.url };
  const node = Bun.spawn(command, { env, stderr: 'inherit' });
  const printed = await new Response(node.stdout).json();
  expect(printed).toEqual(['mem_1', 'NotFoundError', true, 1, 'mem_1']);
  expect(await node.exited).toBe(0);
});
