import { afterAll, expect, test } from 'bun:test';
import { ServiceError } from '../../server/errors.ts';
import { openStorage } from '../../server/storage/open.ts';
import type { WriteResult } from '../../server/storage/types/memories.ts';
import { areWaiting, openTransaction, query } from '../support/postgres.ts';
import { createRandom, type Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import {
  bodyOf,
  claim,
  complete,
  deletedBody,
  drainTasks,
  imported,
  keyed,
  memory,
  newProject,
  type Opened,
  type Project,
  record,
  type WriteFields,
} from './fixtures.ts';
import { expectConsistent, expectSearchable } from './invariants.ts';
import { openInSchema } from './postgres.ts';

/*
 * Clients of two servers on one database write to the same few users, things, memories and
 * idempotency keys, while both servers process records. CONCURRENT_WRITES makes the test longer.
 */

const clients = 24;
const writesEach = Number(process.env.CONCURRENT_WRITES ?? 25);
const seed = Number(process.env.CONCURRENT_SEED ?? 20_261_127);
const users = ['ada', 'ben', 'cem'];

const first = await openInSchema();
const second = { ...first, storage: await openStorage(first.url) };
const servers = [first, second] as const;
const projects = [await newProject(first, 'shared'), await newProject(second, 'shared')] as const;
afterAll(async () => {
  await second.storage.close();
  await first.dispose();
});

const known = new Set(['mem_none']);
const byKey = new Map<string, WriteResult[]>();
/** Memories and the versions that an update has replaced. */
const replaced: string[] = [];
const leases: string[] = [];

type Write = (project: Project, random: Random, write: WriteFields) => Promise<WriteResult>;

const fieldsOf = (random: Random) => ({
  userId: random.pick(users),
  content: `lantern ${random.between(0, 100)}`,
  ...(random.chance(0.6) && { source: 's', externalId: `thing ${random.between(0, 4)}` }),
});
const anyId = (random: Random) => random.pick([...known].slice(-40));

const writes: Write[] = [
  (project, random, write) => project.save(memory(fieldsOf(random)), write),
  (project, random, write) => project.save(memory(fieldsOf(random)), write),
  (project, random, write) => project.ingest(record(fieldsOf(random)), write),
  (project, random, write) =>
    project.acceptBatch(
      [1, 2, 3].map(() => record(fieldsOf(random))),
      write,
    ),
  (project, random, write) => project.remove(anyId(random), write),
  (project, random, write) => project.update(anyId(random), { metadata: '{"a":1}' }, write),
  async (project, random, write) => {
    const id = anyId(random);
    const expectedVersion = (await project.get(id))?.version ?? 1;
    const changes = { content: `lantern ${random.next()}` };
    const result = await project.update(id, changes, { ...write, expectedVersion });
    if (!result.replayed) replaced.push(`${id} ${expectedVersion}`);
    return result;
  },
  (project, random, write) =>
    random.chance(0.1)
      ? project.erase(random.pick(users), write)
      : project.save(memory(fieldsOf(random)), write),
];

/** Twins use the same key at about the same time. */
async function runClient(client: number): Promise<void> {
  const project = projects[client % 2 === 0 ? 0 : 1];
  const random = createRandom(seed).fork(client);
  for (let n = 0; n < writesEach; n += 1) {
    const key = random.chance(0.5) ? `${n} ${random.between(0, 4)}` : null;
    const write = { at: 1_000 + n, idempotency: key === null ? null : keyed(key) };
    try {
      const result = await random.pick(writes)(project, random, write);
      if (key !== null) byKey.set(key, [...(byKey.get(key) ?? []), result]);
      if (result.response.memoryId !== null) known.add(result.response.memoryId);
    } catch (error) {
      if (!(error instanceof ServiceError) || !expected.includes(error.code)) throw error;
    }
  }
}
const expected = ['not_found', 'precondition_failed'];

async function runWorker({ storage }: Opened, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (const task of await claim(storage, { limit: 5, owner: crypto.randomUUID() })) {
      leases.push(`${task.memoryId} ${task.leaseToken}`);
      await complete(storage, task);
    }
  }
}

function expectOneEffect(results: readonly WriteResult[]): void {
  expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
  const bodies = new Set(results.map(({ response }) => response.body));
  for (const { response } of results) {
    if (response.memoryId !== null) bodies.delete(deletedBody(response.memoryId));
  }
  expect(bodies.size).toBeLessThanOrEqual(1);
}

test('concurrent writes of two servers have one effect each and leave no contradiction', async () => {
  let isOver = false;
  const workers = servers.map((server) => runWorker(server, () => isOver));
  const running = Array.from({ length: clients }, (_, client) => runClient(client));
  try {
    await Promise.all(running);
  } finally {
    isOver = true;
    await Promise.all(workers);
  }
  for (const results of byKey.values()) expectOneEffect(results);
  for (const names of [replaced, leases]) {
    expect(names.length).toBeGreaterThan(10);
    expect(new Set(names).size).toBe(names.length);
  }
  await drainTasks(servers[0]);
  await expectConsistent(servers[0]);
  for (const project of projects) {
    for (const userId of users) await expectSearchable(project, userId, 'lantern');
  }
}, 1_800_000);

test('updates of one memory and an erasure of its user succeed, however many there are', async () => {
  const [one, other] = projects;
  for (let round = 0; round < 3; round += 1) {
    const hot = memory({ userId: 'hot' });
    await one.save(hot);
    const update = (_: unknown, n: number) =>
      (n % 2 === 0 ? one : other).update(hot.id, { content: `lantern ${round} ${n}` });
    const updated = await Promise.all(Array.from({ length: 60 }, update));
    const versions = updated.map(({ response }) => response.version ?? 0);
    expect(versions.sort((a, b) => a - b)).toEqual(Array.from(versions, (_, n) => n + 2));
    const updating = Array.from({ length: 60 }, (_, n) => update(null, n).catch(codeOf));
    expect((await other.erase('hot')).response.body).toBe('{"deleted":1}');
    expect(new Set(await Promise.all(updating)).delete('not_found')).toBe(true);
  }
  await expectConsistent(servers[0]);
});

/** Opens a server without indexes in memory, which searches for Eve's memories. */
async function searchAnew(during: () => Promise<unknown> = async () => {}): Promise<void> {
  const { url } = servers[0];
  const opened = { ...servers[0], storage: await openStorage(url) };
  const project = await newProject(opened, 'shared');
  await Promise.all([project.search('lantern', { userId: 'eve' }), during()]);
  await drainTasks(servers[0]);
  await expectSearchable(project, 'eve', 'lantern');
  await opened.storage.close();
}

test('a stored search index contains what concurrent writes have left', async () => {
  const own = Array.from({ length: 300 }, (_, n) =>
    imported({ userId: 'eve', content: `lantern ${n}` }),
  );
  await projects[0].import(own);
  const change = ({ id }: { id: string }, n: number) => {
    const project = projects[n % 2 === 0 ? 0 : 1];
    if (n % 3 === 0) return project.remove(id);
    if (n % 3 === 1) return project.update(id, { content: `lantern changed ${n}` });
    return project.ingest(record({ userId: 'eve', content: `lantern record ${n}` }));
  };
  for (let round = 0; round < 2; round += 1) {
    // The new server stores its index while other servers change the memories.
    await searchAnew(() => Promise.all(own.splice(0, 12).map(change)));
    await until(async () => {
      await searchAnew();
      const text = `SELECT 1 FROM snapshots WHERE user_id = 'eve'`;
      return (await query(servers[0].url, text)).length > 0;
    });
    await searchAnew();
  }
  await expectConsistent(servers[0]);
});

const codeOf = (error: unknown) => (error instanceof ServiceError ? error.code : error);

test('no response is stored that shows a memory deleted meanwhile', async () => {
  const [one, other] = projects;
  const [saved, ingested] = [
    memory({ source: 's', externalId: 'saved' }),
    record({ source: 's', externalId: 'ingested' }),
  ];
  await one.save(saved);
  await one.ingest(ingested);
  await drainTasks(servers[0]);
  const again: [string, (write: WriteFields) => Promise<unknown>][] = [
    [saved.id, (write) => one.save(saved, write)],
    [saved.id, (write) => one.update(saved.id, { content: saved.content }, write)],
    [ingested.id, (write) => one.ingest(ingested, write)],
  ];
  for (const [index, [id, write]] of again.entries()) {
    const unlock = await lockKey(`again ${index}`);
    const writing = write({ idempotency: keyed(`again ${index}`) }).catch(codeOf);
    await until(() => areWaiting(servers[0].url, 'idempotency_keys'));
    let isRemoved = false;
    const removing = other.remove(id).then(() => {
      isRemoved = true;
    });
    await until(async () => isRemoved || (await areWaiting(servers[0].url, 'idempotency_keys', 2)));
    await unlock();
    await Promise.all([writing, removing]);
    await expectConsistent(servers[0]);
    await one.save({ ...saved, id: `mem_again_${index}` });
  }
});

const keyColumns = 'project_id, scope, key, fingerprint, status, body, stored_uptime, created_at';

test.each<[string, string, (id: string, write: WriteFields) => Promise<WriteResult>]>([
  // An expired memory is as invisible as a deleted one, but the counts remain right.
  ['delete', 'expires_at = 1', (id, write) => projects[1].remove(id, write)],
  [
    'update',
    'version = version + 1',
    (id, write) => projects[1].update(id, { metadata: '{}' }, { ...write, expectedVersion: 1 }),
  ],
])(
  'a twin of the %s that another server has overtaken is a replay',
  async (name, change, write) => {
    const { id } = bodyOf(await projects[0].save(memory()));
    const key = `overtaken ${name}`;
    // What the twin commits after this write has looked for the key.
    const commit = await openTransaction(
      servers[0].url,
      `LOCK TABLE memories; UPDATE memories SET ${change} WHERE id = '${id}';
     INSERT INTO idempotency_keys (${keyColumns})
       VALUES (${projects[0].id}, '', '${key}', 'f', 200, '"first"', 0, 0)`,
    );
    const writing = write(id, { idempotency: keyed(key) }).catch(codeOf);
    await until(() => areWaiting(servers[0].url, 'memories'));
    await commit();
    expect(await writing).toMatchObject({ replayed: true, response: { body: '"first"' } });
  },
);

test('a save that would change nothing is applied to what another server has changed', async () => {
  const same = { userId: 'met', externalId: 'met', content: 'the same' };
  const { id } = bodyOf(await projects[0].save(memory(same)));
  // What the other server commits after this save has read the memory.
  const commit = await openTransaction(
    servers[0].url,
    `UPDATE users SET last_change = last_change + 1 WHERE user_id = 'met';
     UPDATE memories SET content = 'another', version = 2, last_change = last_change + 1
       WHERE id = '${id}'`,
  );
  const saving = projects[1].save(memory(same), { idempotency: keyed('met') });
  await until(() => areWaiting(servers[0].url, 'users'));
  await commit();
  expect(bodyOf(await saving)).toMatchObject({ id, content: 'the same', version: 3 });
});

/** Lets the writes with this key wait until the returned function is called. */
function lockKey(key: string): Promise<() => Promise<void>> {
  return openTransaction(
    servers[0].url,
    `INSERT INTO idempotency_keys (${keyColumns})
       VALUES (${projects[0].id}, '', '${key}', 'f', 200, '', 0, 0);
     DELETE FROM idempotency_keys WHERE key = '${key}'`,
  );
}
