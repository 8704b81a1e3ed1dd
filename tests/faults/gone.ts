import { Database } from 'bun:sqlite';
import type { Accepted, BatchAccepted } from '../../sdk/contract/ingest.ts';
import { type Operation, type OperationName, operations } from '../../sdk/contract/operations.ts';
import { until } from '../support/until.ts';
import { type Call, drained, type Reply, send } from './api.ts';
import {
  createViolations,
  type Finding,
  type Harness,
  type RunOptions,
  type Violations,
} from './harness.ts';
import { createTarget, type Target } from './target.ts';

const rounds = { quick: 4, full: 40 };
/** The lifetime of an expiring memory. All reads that must find the memory run within this time. */
const lifeMs = 5_000;
/** A margin between the expiry and the reads that must find nothing. */
const graceMs = 20;

/**
 * The only memory of its user. `word` occurs in its text, its source and its external id, and
 * nowhere else. `saved` is the write that stored the memory.
 */
type Sought = { id: string; userId: string; word: string; saved: Call };
type Read = (sought: Sought) => Call;

const list = (userId: string, more = '') => `/v1/memories?userId=${userId}&limit=100${more}`;
const get = (path: string): Call => ({ method: 'GET', path });

/** Requests for every contract operation that reads memories. */
const reads: [name: OperationName, read: Read][] = [
  ['get', ({ id }) => get(`/v1/memories/${id}`)],
  ['status', ({ id }) => get(`/v1/memories/${id}/status`)],
  [
    'statusMany',
    ({ id }) => ({ method: 'POST', path: '/v1/memories/status', body: { memoryIds: [id] } }),
  ],
  ['list', ({ userId }) => get(list(userId))],
  [
    'list',
    ({ userId, word }) => get(list(userId, `&source=in-${word}&externalId=as-${word}&order=asc`)),
  ],
  ['list', ({ userId }) => get(list(userId, '&metadata[kind]=gone&from=2000-01-01'))],
  ['search', ({ userId, word }) => get(`/v1/memories/search?userId=${userId}&query=${word}`)],
  [
    'search',
    ({ userId, word }) => get(`/v1/memories/search?userId=${userId}&mode=meaning&query=to+${word}`),
  ],
  ['export', () => get('/v1/export')],
  ['export', ({ userId }) => get(`/v1/export?userId=${userId}`)],
  ['users', () => get('/v1/users?limit=100')],
];
const readsNone: OperationName[] = ['key', 'health'];

export const gone: Harness = {
  id: 'P27',
  promise: 'No read operation returns a memory that has expired or was deleted',
  proof:
    `${reads.length} reads, which cover every operation of the contract that reads memories, are ` +
    'sent before and after a memory expires (the expiry is set by a save, a replacement, an ' +
    'update or an ingest), is deleted, or is deleted with its user; the original write, which is ' +
    'a save, an ingest or a batch, is also replayed: the response must contain no text, source ' +
    'or external id; in every second round, the server is killed and restarted before the reads; ' +
    'no table contains a vector of a deleted or erased memory',
  control: {
    without: 'the expiry condition in reads by id; the deletion of stored responses to an ingest',
    variants: ['no-expiry-in-get', 'no-deletion-in-replays'],
    separate: true,
  },
  run,
};

async function run({ tier, variants }: RunOptions): Promise<Finding> {
  const violations = createViolations();
  const target = createTarget({ variants, env: { MEMORY_EMBEDDINGS: 'local' } });
  const counts = {
    memories: 0,
    readsBeforeRemoval: 0,
    vectorsBeforeRemoval: 0,
    readsAfterRemoval: 0,
  };
  try {
    for (const name of unread())
      violations.add(`the harness has no read for the operation ${name}`);
    await target.start();
    // The model is loaded now, and not while the first memories are about to expire.
    await save(target, newMemory(0, 'first'));
    await embedded(target);
    for (let round = 0; round < rounds[tier]; round += 1) {
      const { expiring, expiresAt } = await saveExpiring(target, round);
      const erased = await saveErased(target, round);
      await drained(target, 5_000);
      await embedded(target);
      const all = [...expiring, ...erased.deleted, ...erased.erased];
      counts.memories += all.length;
      // Without this check, a read that finds nothing after the removal would prove nothing.
      counts.readsBeforeRemoval += await expectFound(target, all, violations);
      counts.vectorsBeforeRemoval += countVectors(target, all);
      await erase(target, erased);
      const left = countVectors(target, [...erased.deleted, ...erased.erased]);
      if (left > 0) violations.add(`${left} vectors of deleted memories are left`);
      await Bun.sleep(expiresAt - Date.now() + graceMs);
      if (round % 2 === 1) {
        await target.kill();
        await target.start();
      }
      counts.readsAfterRemoval += await expectGone(target, all, violations);
    }
    const figures = { ...counts, violations: violations.count() };
    return { figures, violations: violations.list() };
  } finally {
    await target.remove();
  }
}

/** Returns the read operations of the contract that this harness does not cover. */
function unread(): string[] {
  return Object.entries<Operation>(operations)
    .filter(([, { method, reads: isRead = false }]) => method === 'GET' || isRead)
    .map(([name]) => name as OperationName)
    .filter((name) => !readsNone.includes(name) && !reads.some(([known]) => known === name));
}

/** Waits until every memory has vectors, which a search by meaning needs. */
async function embedded(target: Target): Promise<void> {
  const count = (db: Database) =>
    db
      .query<{ n: number }, []>(
        `SELECT count(*) AS n FROM memories AS m LEFT JOIN vectors AS v
           ON v.project_id = m.project_id AND v.memory_id = m.id AND v.change = m.last_change WHERE v.data IS NULL`,
      )
      .get()?.n;
  await until(() => withTables(target, count) === 0, { what: 'the vectors of all memories' });
}

/** Counts the vectors of these memories, and those of no memory. */
function countVectors(target: Target, all: Sought[]): number {
  return withTables(target, (db) => {
    const found = db.query<{ n: number }, [string]>(
      `SELECT count(*) AS n FROM vectors AS v LEFT JOIN memories AS m
         ON m.project_id = v.project_id AND m.id = v.memory_id
       WHERE id IS NULL OR id IN (SELECT value FROM json_each(?))`,
    );
    return found.get(JSON.stringify(all.map(({ id }) => id)))?.n ?? 0;
  });
}

function withTables<T>(target: Target, read: (db: Database) => T): T {
  const db = new Database(target.path, { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

function newMemory(round: number, way: string, more: object = {}) {
  const [userId, word] = [`${way}-${round}`, `word${way}${round}`];
  const origin = { source: `in-${word}`, externalId: `as-${word}`, metadata: { kind: 'gone' } };
  return { userId, content: `to ${word}`, ...origin, ...more };
}

async function save(target: Target, body: ReturnType<typeof newMemory>): Promise<Sought> {
  const saved: Call = {
    ...{ method: 'POST', path: '/v1/memories', body },
    idempotencyKey: `save-${crypto.randomUUID()}`,
  };
  return stored(target, body, saved);
}

/** The requests that ingest one record. */
const doors: [path: string, dataOf: (text: string) => object][] = [
  ['/v1/ingest/support', (subject) => ({ data: { subject, comments: [] } })],
  ['/v1/ingest/document', (text) => ({ data: { text } })],
  ['/v1/ingest/chat', (content) => ({ messages: [{ role: 'user', content }] })],
  ['/v1/ingest', (name) => ({ type: 'event', data: { name } })],
];

/** Ingests a record, each time through another door. With `isBatch`, the record is in a batch. */
async function ingest(
  target: Target,
  body: ReturnType<typeof newMemory>,
  { round, isBatch = false }: { round: number; isBatch?: boolean },
): Promise<Sought> {
  const { content, ...fields } = body;
  const [path, dataOf] = doors[round % doors.length] ?? ['', () => ({})];
  const single = { path, body: { ...fields, ...dataOf(content) } };
  const record = { type: 'document', ...fields, data: { text: content } };
  const batch = { path: '/v1/ingest/batch', body: { items: [record] } };
  const idempotencyKey = `ingest-${crypto.randomUUID()}`;
  const ingested: Call = { method: 'POST', ...(isBatch ? batch : single), idempotencyKey };
  return stored(target, body, ingested);
}

async function stored(
  target: Target,
  { userId, content }: ReturnType<typeof newMemory>,
  saved: Call,
): Promise<Sought> {
  const answer = (await answered(target, saved)) as Partial<BatchAccepted> & Partial<Accepted>;
  const id = answer.memoryId ?? answer.items?.[0]?.memoryId ?? '';
  return { id, userId, word: content.slice('to '.length), saved };
}

async function saveExpiring(target: Target, round: number) {
  const expiresAt = Date.now() + lifeMs;
  const expires = { expiresAt: new Date(expiresAt).toISOString() };
  const saved = await save(target, newMemory(round, 'saved', expires));
  await save(target, newMemory(round, 'replaced'));
  const replaced = await save(target, newMemory(round, 'replaced', expires));
  const updated = await save(target, newMemory(round, 'updated'));
  const path = `/v1/memories/${updated.id}`;
  await answered(target, { method: 'PATCH', path, body: expires });
  const ingested = await ingest(target, newMemory(round, 'ingested', expires), { round });
  const isBatch = true;
  const inBatch = await ingest(target, newMemory(round, 'inBatch', expires), { round, isBatch });
  return { expiring: [saved, replaced, updated, ingested, inBatch], expiresAt };
}

type Erasable = { deleted: Sought[]; erased: Sought[] };

async function saveErased(target: Target, round: number): Promise<Erasable> {
  const storeFor = (way: string) =>
    Promise.all([
      save(target, newMemory(round, `${way}Saved`)),
      ingest(target, newMemory(round, `${way}Ingested`), { round }),
      ingest(target, newMemory(round, `${way}InBatch`), { round, isBatch: true }),
    ]);
  return { deleted: await storeFor('deleted'), erased: await storeFor('erased') };
}

async function erase(target: Target, { deleted, erased }: Erasable): Promise<void> {
  for (const { id } of deleted)
    await answered(target, { method: 'DELETE', path: `/v1/memories/${id}` });
  for (const { userId } of erased)
    await answered(target, { method: 'DELETE', path: `/v1/memories?userId=${userId}` });
}

async function answered(target: Target, call: Call): Promise<unknown> {
  const reply = await send(target, call);
  if (reply === null || reply.status >= 300) {
    throw new Error(`${call.method} ${call.path}: ${reply?.status} ${reply?.text}`);
  }
  return reply.text === '' ? null : JSON.parse(reply.text);
}

/** Whether the response contains the memory's word, its id or its user. */
function shows(reply: Reply | null, { id, userId, word }: Sought): boolean {
  if (reply === null) throw new Error('a read received no response');
  if (reply.status !== 200) return false;
  const quoted = [`"id":"${id}"`, `"memoryId":"${id}"`, `"userId":"${userId}"`];
  return reply.text.includes(word) || quoted.some((text) => reply.text.includes(text));
}

async function expectFound(target: Target, all: Sought[], violations: Violations): Promise<number> {
  for (const sought of all) {
    for (const [name, read] of reads) {
      const call = read(sought);
      if (shows(await send(target, call), sought)) continue;
      violations.add(
        `${name} (${call.path}) did not return the memory of ${sought.userId} before its removal`,
      );
    }
  }
  return all.length * reads.length;
}

async function expectGone(target: Target, all: Sought[], violations: Violations): Promise<number> {
  for (const sought of all) {
    for (const [name, read] of reads) {
      const call = read(sought);
      if (!shows(await send(target, call), sought)) continue;
      violations.add(`${name} (${call.path}) still returns the memory of ${sought.userId}`);
    }
    const replay = await send(target, sought.saved);
    if (replay?.text.includes(sought.word))
      violations.add(`the replay still returns data of ${sought.userId}: ${replay.text}`);
  }
  return all.length * (reads.length + 1);
}
