import { expect, test } from 'bun:test';
import { accept, list } from '../mcp/messages.ts';
import { send, startTestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { faultyThreads } from './faulty-thread.ts';

const exits = [
  ['reader', 'exit', ''],
  ['tasks', 'throw', ': a fault in this thread'],
  ['mcp', 'exit', ''],
] as const;
const hungAfterMs = 6_000;

/** The first search starts a reader thread, and the first message the MCP thread. */
async function start(thread: string) {
  const { preload, breakThread, remove } = faultyThreads();
  const reasons: string[] = [];
  const onFatal = (reason: string) => void reasons.push(reason);
  const server = await startTestServer({}, [preload], { onFatal, hungAfterMs });
  if (thread === 'reader') await server.client.search({ userId: 'u', query: 'x' });
  if (thread === 'mcp') {
    const message = { body: list, headers: { accept } };
    expect((await send(server, 'POST', '/mcp/users/u', message)).status).toBe(200);
  }
  const dispose = () => server.stop().then(remove);
  return { server, reasons, breakThread, [Symbol.asyncDispose]: dispose };
}

test.concurrent.each(exits)('if the %s thread exits, the service ends', async (...given) => {
  const [name, what, because] = given;
  await using running = await start(name);
  const { server, reasons, breakThread } = running;
  breakThread(name, what);
  await until(() => reasons.length > 0, { what: 'the end' });
  const message = `the ${name} thread exited${because}`;
  expect(reasons).toEqual([message]);
  expect(await server.client.health()).toMatchObject({ status: 'failing', message });
});

test.concurrent('if a thread hangs, /health fails, and then the service ends', async () => {
  await using running = await start('tasks');
  const { server, reasons, breakThread } = running;
  breakThread('tasks', 'loop');
  const reason = 'the tasks thread does not respond';
  const isFailing = async () => (await server.client.health()).message === reason;
  await until(isFailing, { what: 'the failure', timeoutMs: 4_000 });
  expect(reasons).toEqual([]);
  await until(() => reasons.length > 0, { what: 'the end' });
  expect(reasons).toEqual([reason]);
});
