import { Database } from 'bun:sqlite';
import { openAdmin } from '../../server/admin.ts';
import { send, startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { importable } from '../support/writes.ts';
import { memory, type Surroundings } from './command.ts';

/* Fills a database with every kind of row and reads the rows over HTTP, on either backend. */

export type Keys = { whole: string; bound: string; other: string; revoked: string };

const userId = 'ada';
const words =
  'lantern harbour kettle walrus winter coffee invoice refund cities São 東京 ran'.split(' ');

/** Requests with idempotency keys. A replay must return the first response. */
export const keyed: [key: string, method: string, path: string, body?: object][] = [
  ['save', 'POST', '/v1/memories', { userId, content: 'saved once' }],
  ['named', 'POST', '/v1/memories', { userId, content: 'a', source: 's', externalId: '1' }],
  ['gone', 'POST', '/v1/memories', { userId, content: 'deleted later' }],
  ['ingest', 'POST', '/v1/ingest/document', { userId, data: { title: 'T', text: 'some text' } }],
  ['import', 'POST', '/v1/import', { items: [{ ...importable('far-away'), userId }] }],
];

export const serve = (databaseUrl: string) => startTestServer({}, [], { databaseUrl });

/** Creates one key of each kind in an empty database. */
export async function createKeys(databaseUrl: string): Promise<Keys> {
  const admin = await openAdmin(databaseUrl);
  const create = (name: string, more: { project?: string; userId?: string } = {}) =>
    admin.createKey({ name, project: 'default', ...more });
  const keys = [
    await create('whole'),
    await create('bound', { userId: 'ada' }),
    await create('other', { project: 'other' }),
    await create('revoked'),
  ] as const;
  const [whole, bound, other, revoked] = keys;
  await admin.revokeKey(revoked.id);
  await admin.close();
  return { whole: whole.key, bound: bound.key, other: other.key, revoked: revoked.key };
}

export async function request(
  service: TestServer,
  key: string,
  ...request: [method: string, path: string, options?: Parameters<typeof send>[3]]
): Promise<{ status: number; text: string }> {
  const response = await send({ ...service, key }, ...request);
  return { status: response.status, text: await response.text() };
}

/** Imports `memories` memories of one user, and creates a few rows of every other kind. */
export async function fill(service: TestServer, keys: Keys, memories: number): Promise<void> {
  const send = (method: string, path: string, body?: object, headers = {}) =>
    request(service, keys.whole, method, path, { headers, ...(body !== undefined && { body }) });
  for (const [key, method, path, body] of keyed) {
    const { status, text } = await send(method, path, body, { 'idempotency-key': key });
    if (status > 299) throw new Error(`${path}: ${text}`);
    const { id } = JSON.parse(text) as { id?: string };
    if (key === 'gone') await send('DELETE', `/v1/memories/${id}`);
    if (key === 'save') await send('PATCH', `/v1/memories/${id}`, { content: 'saved twice' });
  }
  const items = Array.from({ length: memories }, (_, n) => ({
    ...importable(`m-${n}`),
    userId,
    content: `\uFEFF${[n, n * 7, n * 31].map((at) => words[at % words.length]).join(' ')} ${n}`,
    externalId: n % 3 === 0 ? `e-${n}` : null,
    version: 1 + (n % 5),
    expiresAt: n % 10 === 0 ? '2099-01-01T00:00:00.000Z' : null,
    createdAt: new Date(1_700_000_000_000 + (n % 50) * 1_000).toISOString(),
    status: n % 40 === 0 ? 'failed' : 'complete',
  }));
  for (let start = 0; start < items.length; start += 1_000) {
    const { text } = await send('POST', '/v1/import', { items: items.slice(start, start + 1_000) });
    if (JSON.parse(text).failedCount !== 0) throw new Error(text);
  }
  const records = queued.map((externalId, n) => {
    return { type: 'document', userId: `queue-${n % 3}`, externalId, data: { text: externalId } };
  });
  await send('POST', '/v1/ingest/batch', { items: records });
  await request(service, keys.other, 'POST', '/v1/memories', {
    body: { userId: 'ben', content: 'of another project: lantern' },
  });
  await whenIdle(service);
}

export async function whenIdle({ client }: TestServer): Promise<void> {
  await until(async () => (await client.health()).pending === 0, { what: 'an empty queue' });
}

/** The external ids of records of several users, in the order in which they were accepted. */
export const queued = ['q-3', 'q-1', 'q-4', 'q-2', 'q-5'];

/** Sets the tasks of the queued records to running with an expired lease, as after a crash. */
export function leaveRunning(path: string): void {
  const db = new Database(path);
  db.run(`UPDATE tasks SET state = 'running', attempts = 2, run_at = accepted_at,
    lease_owner = 'killed', leased_until = accepted_at, chunks_complete = 0, chunks_total = 0,
    last_change = NULL WHERE user_id LIKE 'queue-%'`);
  db.close(true);
}

/** Returns what a client reads: searches with scores, lists, statuses, replays and key checks. */
export async function view(service: TestServer, keys: Keys): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  const look = async (name: string, key: string, path: string) => {
    const { status, text } = await request(service, key, 'GET', path);
    seen[name] = `${status} ${text.replace(/"requestId":"\w+"/, '')}`;
  };
  for (const [index, word] of words.entries()) {
    const query = encodeURIComponent(`${word} ${words[(index + 3) % words.length]}`);
    const path = `/v1/memories/search?userId=ada&query=${query}&limit=50`;
    await look(`search ${query}`, keys.whole, path);
  }
  await look('list', keys.whole, '/v1/memories?userId=ada&limit=100');
  for (const n of [0, 1, 2]) {
    await look(`queue ${n}`, keys.whole, `/v1/memories?userId=queue-${n}&limit=100`);
  }
  await look('users', keys.whole, '/v1/users');
  await look('elsewhere', keys.whole, '/v1/memories/mem_m-7');
  await look('failed', keys.whole, '/v1/memories/mem_m-40/status');
  await look('bound', keys.bound, '/v1/memories?userId=ada');
  await look('other', keys.other, '/v1/memories?userId=ben');
  await look('revoked', keys.revoked, '/v1/memories?userId=ada');
  for (const [key, method, path, body] of keyed) {
    const headers = { 'idempotency-key': key };
    const { status, text } = await request(service, keys.whole, method, path, {
      headers,
      ...(body !== undefined && { body }),
    });
    seen[`replay ${key}`] = `${status} ${text}`;
  }
  return seen;
}

export function migrating(from: string, to: string, ...more: string[]): string[] {
  return ['migrate', '--from', from, '--to', to, ...more];
}

export async function migrate(from: string, to: string, around: Surroundings = {}) {
  const { code, stdout, stderr } = await memory(migrating(from, to, '--json'), around);
  return { code, stderr, report: JSON.parse(stdout) };
}
