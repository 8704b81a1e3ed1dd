import { Database } from 'bun:sqlite';
import { type Call, listAll, type Reply } from './api.ts';
import {
  type Context,
  expectStatus,
  expectStored,
  isReuse,
  post,
  replays,
  save,
  saved,
} from './matrix-rules.ts';

export async function reorderedBatch(c: Context): Promise<string | null> {
  const items = ['a', 'b'].map((name) => ({ type: 'event', userId: c.userId, data: { name } }));
  await c.send(post('/v1/ingest/batch', { items }, c.key));
  const second = await c.send(post('/v1/ingest/batch', { items: items.toReversed() }, c.key));
  return isReuse(second) ? expectStored(c, 2) : `returned ${second.status}`;
}

export async function updateOfAnother(c: Context): Promise<string | null> {
  const ids = await Promise.all(['a', 'b'].map((name) => saved(c, name)));
  const patch = (id = ''): Call => ({
    ...{ method: 'PATCH', path: `/v1/memories/${id}`, body: { content: 'new' } },
    idempotencyKey: c.key,
  });
  await c.send(patch(ids[0]));
  const second = await c.send(patch(ids[1]));
  return isReuse(second) ? null : `returned ${second.status}`;
}

export async function correctedAfterRefusal(c: Context): Promise<string | null> {
  const refused = await c.send(save(c, { content: '' }));
  if (refused.status !== 400) return `the invalid request returned ${refused.status}`;
  return replays(c, save(c));
}

export async function notFoundTwice(c: Context): Promise<string | null> {
  const call: Call = { method: 'DELETE', path: '/v1/memories/mem_none', idempotencyKey: c.key };
  for (let time = 0; time < 2; time += 1) {
    const problem = expectStatus(await c.send(call), 404);
    if (problem !== null) return problem;
  }
  return replays(c, save(c));
}

export async function replayAfterUpdate(c: Context): Promise<string | null> {
  const first = await c.send(save(c));
  const { id } = JSON.parse(first.text) as { id: string };
  await c.send({ method: 'PATCH', path: `/v1/memories/${id}`, body: { content: 'new' } });
  const again = await c.send(save(c));
  if (again.text !== first.text) return 'the responses differ';
  const [memory] = await listAll(c.target, c.userId);
  return memory?.content === 'new' ? null : 'the replay undid the update';
}

export async function replayAfterDelete(c: Context): Promise<string | null> {
  const first = await c.send(save(c));
  const { id } = JSON.parse(first.text) as { id: string };
  await c.send({ method: 'DELETE', path: `/v1/memories/${id}` });
  const again = await c.send(save(c));
  if (again.status !== 201) return `returned ${again.status}`;
  if (again.text !== JSON.stringify({ id, memoryId: id, deleted: true })) return again.text;
  return expectStored(c, 0);
}

export async function deleteTwice(c: Context): Promise<string | null> {
  const path = `/v1/memories/${await saved(c, 'a')}`;
  const replies = [];
  for (let time = 0; time < 2; time += 1) {
    replies.push(await c.send({ method: 'DELETE', path, idempotencyKey: c.key }));
  }
  const shown = replies.map(
    ({ status, headers }) => `${status} ${headers.get('idempotency-status')}`,
  );
  return shown.join() === '204 created,204 replayed' ? null : shown.join();
}

/** Exceeds the rate limit. The harness sets the limit to 1,000 requests per second. */
export async function afterLimit(c: Context): Promise<string | null> {
  for (let time = 0; time < 5; time += 1) {
    const reads = Array.from({ length: 1_000 }, () => c.send({ method: 'GET', path: '/v1/none' }));
    await Promise.all(reads);
    const key = `${c.key}-${time}`;
    const limited = await c.send(save({ ...c, key }));
    if (limited.status !== 429) continue;
    const stored = (await listAllLater(c, limited)).length;
    const again = await c.send(save({ ...c, key }));
    if (again.headers.get('idempotency-status') !== 'created') return 'the 429 consumed the key';
    return expectStored(c, stored + 1);
  }
  return 'the rate limit was not reached';
}

async function listAllLater(c: Context, { headers }: Reply): Promise<unknown[]> {
  await Bun.sleep(Number(headers.get('retry-after')) * 1_000);
  return listAll(c.target, c.userId);
}

export async function afterExpiry(c: Context): Promise<string | null> {
  await c.send(save(c));
  // Deletes the keys, as the service's maintenance does after their retention period.
  const db = new Database(c.target.path, { readwrite: true, create: false });
  db.run('PRAGMA busy_timeout = 5000');
  db.run('DELETE FROM idempotency_keys');
  db.close(true);
  const again = await c.send(save(c));
  if (again.headers.get('idempotency-status') !== 'created')
    return 'the expired key was still recognized';
  return expectStored(c, 2);
}

export async function racingBodies(c: Context): Promise<string | null> {
  const calls = Array.from({ length: 20 }, (_, n) => c.send(save(c, { content: `body ${n}` })));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  if (statuses.filter((status) => status === 201).length !== 1) return statuses.join(' ');
  return expectStored(c, 1);
}
