import { expect, test } from 'bun:test';
import { accept, list } from '../mcp/messages.ts';
import { backend } from '../support/backend.ts';
import { send, startTestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { faultyThreads } from './faulty-thread.ts';

/* A thread that exits or hangs ends the service. tests/storage has the checkpoint thread. */

const threads = [...(backend === 'sqlite' ? ['writer'] : []), 'reader', 'tasks', 'mcp'];
const hungAfterMs = 6_000;

async function start() {
  const { preload, breakThread, remove } = faultyThreads();
  const reasons: string[] = [];
  const onFatal = (reason: string) => void reasons.push(reason);
  const server = await startTestServer({}, [preload], { onFatal, hungAfterMs });
  // The first search starts a reader thread, and the first message the MCP thread.
  await server.client.search({ userId: 'u', query: 'x' });
  const message = { body: list, headers: { accept } };
  expect((await send(server, 'POST', '/mcp/users/u', message)).status).toBe(200);
  return {
    server,
    reasons,
    breakThread,
    async [Symbol.asyncDispose]() {
      await server.stop();
      remove();
    },
  };
}

test.each(threads)('if the %s thread exits, the service ends at once', async (name) => {
  await using running = await start();
  const { server, reasons, breakThread } = running;
  breakThread(name, 'exit');
  await until(() => reasons.length > 0, { what: 'the end' });
  expect(reasons).toEqual([`the ${name} thread exited`]);
  const { status, message } = await server.client.health();
  expect({ status, message }).toEqual({ status: 'failing', message: `the ${name} thread exited` });
});

test('if a thread throws, the reason contains the error', async () => {
  await using running = await start();
  running.breakThread('tasks', 'throw');
  await until(() => running.reasons.length > 0, { what: 'the end' });
  expect(running.reasons).toEqual(['the tasks thread exited: a fault in this thread']);
});

test.concurrent.each(threads)(
  'if the %s thread hangs, /health fails, and then the service ends',
  async (name) => {
    await using running = await start();
    const { server, reasons, breakThread } = running;
    breakThread(name, 'loop');
    const reason = `the ${name} thread does not respond`;
    const isFailing = async () => (await server.client.health()).message === reason;
    await until(isFailing, { what: 'the failure', timeoutMs: 4_000 });
    expect(reasons).toEqual([]);
    await until(() => reasons.length > 0, { what: 'the end' });
    expect(reasons).toEqual([reason]);
  },
);
