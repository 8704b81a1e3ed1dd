import { expect, test } from 'bun:test';
import { events, expectRan, type Surroundings, withMemory } from './command.ts';
import { foldersFor } from './folder.ts';
import { forward, startService } from './service.ts';

/* If Ctrl-C or SIGTERM interrupts --wait, the command says how to continue waiting. */

const { server, memory } = await withMemory();

/** Starts a proxy that completes no memory and interrupts at the first status or list request. */
function interruptedAt(signal: 'SIGINT' | 'SIGTERM') {
  const interruption = new AbortController();
  const service = startService(async (request) => {
    const answer = await forward(request, server);
    const { pathname } = new URL(request.url);
    const isList = request.method === 'GET' && pathname === '/v1/memories';
    if (!pathname.endsWith('/status') && !isList) return answer;
    interruption.abort(signal);
    if (isList) return answer;
    return Response.json({ ...((await answer.json()) as object), status: 'processing' });
  });
  const around: Surroundings = { env: service.env, interrupted: interruption.signal };
  return { ...service, around };
}

const interrupted = { error: { code: 'interrupted' } };
const onlyWaiting = (count: number) =>
  new RegExp(
    `^Still processing: ${count} memories\\. Nothing is lost\\. .*memory wait( mem_\\w+){${count}}\n`,
    'm',
  );

test('an interrupted --wait for many records says how to continue', async () => {
  await using proxy = interruptedAt('SIGINT');
  const argv = ['ingest', 'batch', '-', '--wait', '--json'];
  const ran = await memory(argv, { ...proxy.around, stdin: events('many', 20) });
  expect(JSON.parse(ran.stdout)).toMatchObject(interrupted);
  expectRan(ran, 130, onlyWaiting(20));
});

test('an interrupted --wait says how to continue if one record is invalid', async () => {
  await using proxy = interruptedAt('SIGTERM');
  const argv = ['ingest', 'record', '-', '--wait'];
  const ran = await memory(argv, { ...proxy.around, stdin: `${events('many', 2)}\n{` });
  expect(ran.stderr).toMatch(onlyWaiting(2));
  expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 143, stdout: '' });
});

test('an interrupted --wait for several documents says how to continue', async () => {
  await using proxy = interruptedAt('SIGINT');
  using folder = foldersFor(memory)('docs', { 'a.md': 'a', 'b.md': 'b' });
  const ran = await folder.ingest(['.', '--wait'], proxy.around);
  expectRan(ran, 130, onlyWaiting(2), /\nError: Interrupted\.\n$/);
});

test('an interrupted --wait --json prints the id of one record on stderr', async () => {
  await using proxy = interruptedAt('SIGTERM');
  const argv = ['ingest', 'document', '--user', 'one', '-', '--wait', '--json'];
  const ran = await memory(argv, { ...proxy.around, stdin: 'text' });
  const [one] = (await server.client.list({ userId: 'one' })).items;
  expect(ran.stderr).toEndWith(`Nothing is lost. Continue waiting: memory wait ${one?.id}\n`);
  expect(JSON.parse(ran.stdout)).toMatchObject(interrupted);
  expect(ran.code).toBe(143);
});

test('an interrupted --wait prints the id of one record on stdout', async () => {
  await using proxy = interruptedAt('SIGINT');
  const argv = ['ingest', 'document', '--user', 'plain', '-', '--wait'];
  const { code, stdout, stderr } = await memory(argv, { ...proxy.around, stdin: 'text' });
  expect(stdout).toMatch(/^mem_\w+\n$/);
  expect(stderr).toEndWith(`Continue waiting: memory wait ${stdout}Error: Interrupted.\n`);
  expect(code).toBe(130);
});
