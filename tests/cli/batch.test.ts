import { describe, expect, test } from 'bun:test';
import { startTestServer } from '../support/server.ts';
import {
  event,
  events,
  expectRan,
  lines,
  linesOf,
  type Surroundings,
  summaryOf,
  withMemory,
} from './command.ts';
import { forward, startService } from './service.ts';

const { server, memory } = await withMemory();

const summary = (accepted: number, replayed: number, failed: number) =>
  summaryOf({ accepted, replayed, failed });
const ingest = (stdin: string, around: Surroundings = {}) =>
  memory(['ingest', 'batch', '-'], { stdin, ...around });

async function countOf(userId: string): Promise<number> {
  let count = 0;
  for await (const _ of server.client.list({ userId, limit: 100 })) count += 1;
  return count;
}

/** Starts a proxy that records the maximum number of concurrent requests to the server. */
function watchRequests() {
  let running = 0;
  let most = 0;
  const service = startService(async (request) => {
    running += 1;
    most = Math.max(most, running);
    const answer = await forward(request, server);
    running -= 1;
    return answer;
  });
  return { ...service, maxAtOnce: () => most };
}

describe('memory ingest batch', () => {
  test('ingests every line, including duplicates; a second run has no effect', async () => {
    const equal = `${event('equal', 'same')}\n`.repeat(1_100);
    const ran = { code: 0, stdout: '' };
    expect(await ingest(equal)).toEqual({ ...ran, stderr: summary(1_100, 0, 0) });
    expect(await ingest(equal)).toEqual({ ...ran, stderr: summary(0, 1_100, 0) });
    expect(await countOf('equal')).toBe(1_100);
  });

  test('if lines were appended, only the last request and the new lines are sent', async () => {
    await ingest(events('grown', 1_250));
    expectRan(await ingest(events('grown', 1_600)), 0, summary(600, 1_000, 0));
  });

  test('twenty invalid lines are shown, and only more than these are counted', async () => {
    const shownOf = async (count: number) => {
      const { stderr } = await ingest('{\n'.repeat(count));
      expect(stderr).toContain(summary(0, 0, count));
      return lines(stderr).filter((line) => /^(line|and) /.test(line));
    };
    expect(await shownOf(20)).toHaveLength(20);
    const more = await shownOf(30);
    expect(more).toHaveLength(21);
    expect(more.at(-1)).toBe('and 10 more; to see all: --json');
    const json = await memory(['ingest', 'batch', '-', '--json'], { stdin: '{\n'.repeat(30) });
    expect(json.stderr).toBe('');
  });

  test('a changed line does not affect later requests, even if its own request is split', async () => {
    const large = 'x'.repeat(600_000);
    const send = (changed: number) =>
      ingest(linesOf(1_000, (at) => event('split', at < changed ? large : `e${at}`)));
    expectRan(await send(1), 0, summary(1_000, 0, 0));
    expectRan(await send(2), 0, summary(500, 500, 0));
  });

  test('records with the same external id are sent in order, and other records concurrently', async () => {
    await using watch = watchRequests();
    const send = (things: number) => {
      const one = (at: number) => event(`of-${things}`, `v${at}`, { externalId: `${at % things}` });
      return ingest(linesOf(3_001, one), { env: watch.env });
    };
    await send(1);
    expect(watch.maxAtOnce()).toBe(1);
    const { items } = await server.client.list({ userId: 'of-1' });
    expect(items.map(({ content }) => content)).toEqual(['v3000']);
    await send(3_001);
    expect(watch.maxAtOnce()).toBe(4);
  });

  test('no line is ingested under an --idempotency-key that was used for other lines', async () => {
    const argv = ['ingest', 'batch', '-', '--idempotency-key', 'of-others'];
    const two = (name: string) => ({ stdin: `${event('reused', name)}\n`.repeat(2) });
    expectRan(await memory(argv, two('a')), 0, summary(2, 0, 0));
    expectRan(await memory(argv, two('b')), 1, summary(0, 0, 2));
    expect(await countOf('reused')).toBe(2);
  });
});

test('chunks are halved until they fit within a smaller body limit', async () => {
  await using small = await startTestServer({ MEMORY_MAX_BODY_BYTES: '4096' });
  const env = { MEMORY_BASE_URL: small.url, MEMORY_API_KEY: small.key };
  const all = linesOf(100, (at) =>
    event('small', at === 0 ? 'x'.repeat(5000) : `${at}`.repeat(50)),
  );
  const reason = 'line 1: the body must be at most 4096 bytes';
  expectRan(await ingest(all, { env }), 1, summary(99, 0, 1), reason);
  expectRan(await ingest(all, { env }), 1, summary(0, 99, 1));
});

test('chunks with too many JSON values are halved, and only a line nested too deeply fails', async () => {
  const values = Array(500).fill(1);
  const dense = linesOf(450, (at) => event('dense', `e${at}`, { metadata: { values } }));
  const deep = event('dense', 'deep').replace('"deep"', `${'['.repeat(33)}${']'.repeat(33)}`);
  const reason = 'line 451: the JSON must be at most 32 levels deep';
  expectRan(await ingest(`${dense}\n${deep}`), 1, summary(450, 0, 1), reason);
  expect(await countOf('dense')).toBe(450);
});

test('a rejected key ends the run with exit 4, without advice to run it again', async () => {
  const env = { MEMORY_API_KEY: 'not-a-key-of-this-server' };
  const { stdout, ...ran } = await ingest(event('u', 'a'), { env });
  expect(stdout).toBe('');
  expectRan(ran, 4, /^Error: The API key in MEMORY_API_KEY was rejected(?!.*again)/s);
});

test('a key that is rejected during the run ends it with a hint on how to resume', async () => {
  let sent = 0;
  await using service = startService(async (request) => {
    sent += 1;
    const isSecond = (await request.clone().text()).includes('"e999"');
    return isSecond ? new Response(null, { status: 401 }) : forward(request, server);
  });
  const ran = await ingest(events('revoked', 10_000), { env: service.env });
  expectRan(ran, 4, /^Stopped after 500 records\. Run the same command again/);
  expect(sent).toBeLessThan(10);
});

test('Ctrl-C stops the run with exit 130, and the same command resumes', async () => {
  const interruption = new AbortController();
  const all = events('stopped', 600);
  let sent = false;
  const stdin = new ReadableStream<Uint8Array>({
    pull(controller) {
      // Nothing is enqueued, so the second read stays pending, as on a pipe with an idle writer.
      if (sent) return interruption.abort('SIGINT');
      sent = true;
      controller.enqueue(Buffer.from(`${all}\n`));
    },
  });
  const { stdout, ...stopped } = await ingest('', { stdin, interrupted: interruption.signal });
  expect(stdout).toBe('');
  expectRan(stopped, 130, 'Run the same command again to continue');
  expect(await ingest(all)).toMatchObject({ code: 0 });
  expect(await countOf('stopped')).toBe(600);
});
