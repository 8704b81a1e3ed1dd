import { openLoop, type Sample } from '../bench/kit/load.ts';
import { requestBytes } from '../bench/kit/requests.ts';
import type { Random } from '../support/random.ts';
import { saveOf, send } from './api.ts';
import type { Target } from './target.ts';
import { toolCall } from './traffic/bodies.ts';
import { eventOf, fewMemories, fewUsers, heavyUser, words } from './traffic/kinds.ts';

/** Documents of the heavy user, each close to the body limit. */
const documents = { count: 4, characters: 4_000_000 };
/**
 * The interval between two requests of the same kind. The four kinds together make 125 requests per
 * second, because an MCP call counts twice.
 */
const everyMs = 40;
const idleSaveMs = 20;

type Api = Pick<Target, 'url' | 'key'>;

/**
 * Adds one user with 16 MB of text, and many users with a few memories each. Returns the id of a
 * document of the first user.
 */
export async function fillHeavyProject(api: Api, random: Random): Promise<string> {
  let documentId = '';
  for (let count = 0; count < documents.count; count += 1) {
    const text = words(random, documents.characters / 6).slice(0, documents.characters);
    const body = { userId: heavyUser, data: { text } };
    documentId = JSON.parse(await ingest(api, '/v1/ingest/document', body)).memoryId;
  }
  const few = Array.from({ length: fewUsers * fewMemories }, (_, index) =>
    eventOf(`few-${index % fewUsers}`, words(random, 20)),
  );
  for (let begin = 0; begin < few.length; begin += 1_000) {
    await ingest(api, '/v1/ingest/batch', { items: few.slice(begin, begin + 1_000) });
  }
  return documentId;
}

async function ingest(api: Api, path: string, body: object): Promise<string> {
  const reply = await send(api, { method: 'POST', path, body });
  if (reply?.status !== 202) throw new Error(`${path}: ${reply?.status} ${reply?.text}`);
  return reply.text;
}

/** Measures saves, lists, searches and MCP calls in project A, for a user with one memory. */
export async function measure(target: Target, during: number): Promise<Map<string, Sample[]>> {
  const { url, key } = target;
  await send(target, { ...saveOf('one', 'dark mode'), idempotencyKey: 'one' });
  const headers = ['Accept: application/json, text/event-stream'];
  const body = toolCall('list_memories', {});
  const requests = Object.entries({
    save: requestBytes('POST', '/v1/memories', { body: saveOf('a', 'A').body, key }),
    list: requestBytes('GET', '/v1/memories?userId=one&limit=1', { key }),
    search: requestBytes('GET', '/v1/memories/search?userId=one&query=dark+mode', { key }),
    mcp: requestBytes('POST', '/mcp/users/one', { body, headers, key }),
  });
  const kindOf = (number: number) => requests[number % requests.length] ?? ['', new Uint8Array()];
  const perSecond = (requests.length * 1_000) / everyMs;
  const next = (number: number) => kindOf(number)[1];
  const samples = await openLoop({ url, perSecond, during, mayFail: true, next });
  return Map.groupBy(samples, ({ number }) => kindOf(number)[0]);
}

/**
 * Waits until four consecutive saves are fast, because the server may still be working on
 * canceled requests. Returns the elapsed time in ms.
 */
export async function waitUntilIdle(target: Target, withinMs: number): Promise<number> {
  const begun = performance.now();
  for (let quick = 0; quick < 4 && performance.now() - begun < withinMs; ) {
    const sentAt = performance.now();
    await send(target, saveOf('q', 'q'));
    quick = performance.now() - sentAt < idleSaveMs ? quick + 1 : 0;
  }
  return Math.round(performance.now() - begun);
}
