/*
 * Generates load from a separate process until it is stopped: saves, batches, searches, exports and
 * erasures in one project. The spec is { url, key, users }.
 */
import { load } from '../kit/load.ts';
import { searches } from '../kit/paths.ts';
import {
  alternate,
  batches,
  cycleOf,
  gets,
  type NextRequest,
  requestBytes,
  saveBody,
  saves,
} from '../kit/requests.ts';
import { readSpec } from './spec.ts';

/** `users` are the users whose memories are searched. */
type Spec = { url: string; key: string; users: string[] };

const { url, key, users } = readSpec<Spec>();
const seconds = 5;
const retryMs = 100;
const erased = 50;

const kinds: { connections: number; next: NextRequest }[] = [
  { connections: 16, next: saves(key) },
  { connections: 2, next: batches(50, 100, key) },
  { connections: 2, next: gets(users.flatMap(searches), key) },
  { connections: 1, next: gets(['/v1/export?limit=1000'], key) },
  { connections: 1, next: alternate([ingestOfErased(), erasures()]) },
];

/** Returns the batches to send in turn: one for each user that `erasures` erases. */
function ingestOfErased(): NextRequest {
  const { content: text } = saveBody(0);
  return cycleOf(erased, (at) => {
    const item = { type: 'document', userId: `erased-${at}`, data: { text } };
    const items = new Array(100).fill(item);
    return requestBytes('POST', '/v1/ingest/batch', { body: { items }, key });
  });
}

function erasures(): NextRequest {
  return cycleOf(erased, (at) =>
    requestBytes('DELETE', `/v1/memories?userId=erased-${at}`, { key }),
  );
}

/**
 * Sends requests of one kind until the process is stopped. After a 429 or 503 response, backs off
 * as a client would and continues.
 */
async function flood(kind: (typeof kinds)[number]): Promise<never> {
  for (;;) {
    try {
      await load({ ...kind, url, seconds });
    } catch (error) {
      if (!/ (?:429|503) /.test(String(error))) throw error;
      await Bun.sleep(retryMs);
    }
  }
}

console.log(JSON.stringify({ url }));
await Promise.all(kinds.map(flood));
