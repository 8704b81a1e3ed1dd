import { type Operation, type OperationName, operations } from '../../sdk/contract/operations.ts';
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
const lifeMs = 2_500;
/** A margin between the expiry and the reads that must find nothing. */
const graceMs = 20;

/** The only memory of its user. `word` occurs in no other text. */
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
  ['list', ({ userId }) => get(list(userId, '&source=gone&externalId=name&order=asc'))],
  ['list', ({ userId }) => get(list(userId, '&metadata[kind]=gone&from=2000-01-01'))],
  ['search', ({ userId, word }) => get(`/v1/memories/search?userId=${userId}&query=${word}`)],
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
    'update or an ingest), is deleted, or is deleted with its user; the original write is also ' +
    'replayed; in every second round, the server is killed and restarted before the reads',
  control: { without: 'the expiry condition in reads by id', variants: ['no-expiry-in-get'] },
  run,
};

async function run({ tier, variants }: RunOptions): Promise<Finding> {
  const violations = createViolations();
  const target = createTarget({ variants });
  const counts = { memories: 0, readsBeforeRemoval: 0, readsAfterRemoval: 0 };
  try {
    for (const name of unread())
      violations.add(`the harness has no read for the operation ${name}`);
    await target.start();
    for (let round = 0; round < rounds[tier]; round += 1) {
      const { expiring, expiresAt } = await saveExpiring(target, round);
      const erased = await saveErased(target, round);
      await drained(target, 5_000);
      const all = [...expiring, ...erased];
      counts.memories += all.length;
      // Without this check, a read that finds nothing after the removal would prove nothing.
      counts.readsBeforeRemoval += await expectFound(target, all, violations);
      await erase(target, erased);
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

function newMemory(round: number, way: string, more: object = {}) {
  const [userId, word] = [`${way}-${round}`, `word${way}${round}`];
  const origin = { source: 'gone', externalId: 'name', metadata: { kind: 'gone' } };
  return { userId, content: `to ${word}`, ...origin, ...more };
}

async function save(target: Target, body: ReturnType<typeof newMemory>): Promise<Sought> {
  const saved: Call = {
    ...{ method: 'POST', path: '/v1/memories', body },
    idempotencyKey: `save-${crypto.randomUUID()}`,
  };
  const { memoryId } = (await answered(target, saved)) as { memoryId: string };
  const { userId, content } = body;
  return { id: memoryId, userId, word: content.slice('to '.length), saved };
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
  const { content: text, ...record } = newMemory(round, 'ingested', expires);
  const ingest: Call = {
    ...{ method: 'POST', path: '/v1/ingest/document', body: { ...record, data: { text } } },
    idempotencyKey: `ingest-${round}`,
  };
  const { memoryId: id } = (await answered(target, ingest)) as { memoryId: string };
  const { userId } = record;
  const ingested = { id, userId, word: text.slice('to '.length), saved: ingest };
  return { expiring: [saved, replaced, updated, ingested], expiresAt };
}

async function saveErased(target: Target, round: number): Promise<Sought[]> {
  const ways = ['deleted', 'erased'];
  return Promise.all(ways.map((way) => save(target, newMemory(round, way))));
}

async function erase(target: Target, [deleted, erased]: Sought[]): Promise<void> {
  await answered(target, { method: 'DELETE', path: `/v1/memories/${deleted?.id}` });
  await answered(target, { method: 'DELETE', path: `/v1/memories?userId=${erased?.userId}` });
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
      violations.add(`the replay still returns the text of ${sought.userId}`);
  }
  return all.length * (reads.length + 1);
}
