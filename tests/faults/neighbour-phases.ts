import { openAdmin } from '../../server/admin.ts';
import type { Random } from '../support/random.ts';
import { type Call, send } from './api.ts';
import type { Target } from './target.ts';
import { eventOf, fewMemories, fewUsers, heavyUser, words } from './traffic/kinds.ts';
import { type Probe, probe } from './traffic/probe.ts';

/** Documents of the heavy user, each close to the body limit. */
const documents = { count: 4, characters: 4_000_000 };
/**
 * The interval between two requests of the same kind. The three kinds together make 75 requests
 * per second, which is below the rate limit.
 */
const everyMs = 40;
const idleSaveMs = 20;

type Api = Pick<Target, 'url' | 'key'>;

export async function createProjectKey(target: Target, project: string): Promise<string> {
  const admin = await openAdmin(`sqlite:${target.path}`);
  const { key } = await admin.createKey({ name: project, project });
  await admin.close();
  return key;
}

/** Adds one user with 16 MB of text, and many users with a few memories each. */
export async function fillHeavyProject(api: Api, random: Random): Promise<void> {
  for (let count = 0; count < documents.count; count += 1) {
    const text = words(random, documents.characters / 6).slice(0, documents.characters);
    await ingest(api, '/v1/ingest/document', { userId: heavyUser, data: { text } });
  }
  const few = Array.from({ length: fewUsers * fewMemories }, (_, index) =>
    eventOf(`few-${index % fewUsers}`, words(random, 20)),
  );
  for (let begin = 0; begin < few.length; begin += 1_000) {
    await ingest(api, '/v1/ingest/batch', { items: few.slice(begin, begin + 1_000) });
  }
}

async function ingest(api: Api, path: string, body: object): Promise<void> {
  const reply = await send(api, { method: 'POST', path, body });
  if (reply?.status !== 202) throw new Error(`${path}: ${reply?.status} ${reply?.text}`);
}

/** Measures save, list and search requests in project A, for a user with one memory. */
export async function measure(target: Target, during: number): Promise<Record<string, Probe>> {
  const save: Call = { method: 'POST', path: '/v1/memories', body: { userId: 'a', content: 'A' } };
  const list: Call = { method: 'GET', path: '/v1/memories?userId=one&limit=1' };
  const search: Call = { method: 'GET', path: '/v1/memories/search?userId=one&query=dark+mode' };
  await send(target, {
    ...save,
    idempotencyKey: 'one',
    body: { userId: 'one', content: 'dark mode' },
  });
  const calls = { save: () => save, list: () => list, search: () => search };
  return probe(target, calls, { everyMs, during });
}

/**
 * Waits until four consecutive saves are fast, because the server may still be working on
 * canceled requests. Returns the elapsed time in ms.
 */
export async function waitUntilIdle(target: Target, withinMs: number): Promise<number> {
  const begun = performance.now();
  for (let quick = 0; quick < 4 && performance.now() - begun < withinMs; ) {
    const sentAt = performance.now();
    await send(target, {
      method: 'POST',
      path: '/v1/memories',
      body: { userId: 'q', content: 'q' },
    });
    quick = performance.now() - sentAt < idleSaveMs ? quick + 1 : 0;
  }
  return Math.round(performance.now() - begun);
}
