import { firstMs, lastMs } from '../../sdk/contract/times.ts';
import type { Filter, MemoryChanges, StoredMemory } from '../../server/storage/types/memories.ts';
import { createRandom, type Random } from '../support/random.ts';
import { claim, keyed, memory, type Opened, type Project, walk } from './fixtures.ts';

/* Seeded operations with unusual but accepted values, which two backends must answer alike. */

export type Operation = {
  name: string;
  run(project: Project, opened: Opened): Promise<unknown>;
};

const users = [
  ...['u', 'U', 'u ', 'ú', 'u\u0301', '語', '\u{10ffff}', '\uffee', '\ue000', '%', '"', "'"],
  ...['\u{1f469}\u200d\u{1f4bb}', 'x'.repeat(256), '\u{1d4b3}'.repeat(256)],
];
const texts = [
  ...['plain', 'Straße', 'STRASSE', 'İstanbul', 'e\u0301', 'é', '\ufeffbom', '\u202eright', '語語'],
  ...['\u{1f469}\u200d\u{1f4bb}', '$1 ?1 :a', "'; --", '\\', '%_'],
  ...['\u2028', ' ', '\t', '\uffff', '"'],
  ...['x'.repeat(5_000), '\u{1d4b3}'.repeat(3_000), 'word '.repeat(20_000)],
];
const metadata = [
  ...['{}', '{"a":1}', '{"a":1.0}', '{"a":"1"}', '{"a":[1,"x",null]}', '{"b":{"c":[]}}', '{"":""}'],
  ...['{"a":9007199254740993}', '{"a":1e400}', '{"a":true,"é":"\\u2028"}', '{"b":1,"a":2}'],
];
const filters: Partial<Filter>[] = [
  ...[{}, { type: 'document' as const }, { status: 'complete' as const }, { source: 's' }],
  ...[{ status: 'failed' as const }, { status: 'processing' as const }, { externalId: '%' }],
  ...[{ from: 0 }, { to: 0 }, { from: firstMs, to: lastMs }, { from: 2_000_000, source: 't' }],
  ...['1', 'true', 'x', '9007199254740992', ''].map((value) => ({
    metadata: [{ key: 'a', value }],
  })),
  ...[{ metadata: [{ key: 'é', value: '\u2028' }] }, { metadata: [{ key: '', value: '' }] }],
];
const names = [null, null, 's', 't', '', '%', '\u{1d4b3}'.repeat(256)];
const ids = ['a', 'A', 'a_', 'a-', '0', '_', '-', 'z'.repeat(64), 'n1', 'n2', 'n3', 'n4'];
const strangeIds = ['', 'mem_', 'mem_\0', '\0', "' OR 1", 'm'.repeat(100_000), 'mem_%', 'mem_é'];

/** Every third operation is a save. */
const savesEvery = 3;

/** Draws values and runs an operation with them. `n` is the base of its ids and times. */
type Run = (project: Project, random: Random, n: number, opened: Opened) => Promise<unknown>;

const idOf = (random: Random, n: number): string => {
  if (random.chance(0.05)) return random.pick(strangeIds);
  const turn = Math.floor(n / savesEvery);
  const known = `mem_w${savesEvery * random.between(Math.max(0, turn - 8), turn + 1)}`;
  return random.chance(0.3) ? `mem_${random.pick(ids)}` : known;
};

/** Mostly later than the time of the operations before, and never equal to one of these. */
const timeOf = (random: Random, n: number) => {
  const ahead = random.chance(0.1) ? random.between(-50, 50) : 0;
  return 1_000_000 + 1_000 * (n + ahead) + (n % 1_000);
};

const anyTime = (random: Random, n: number): number | null => {
  const at = timeOf(random, n);
  return random.pick([null, null, null, firstMs, -1, 0, at, at + 1, at + 20_000, lastMs]);
};

const keyOf = (random: Random) => {
  if (random.chance(0.6)) return null;
  const key = random.pick(['k', 'K', 'k ', 'é', '~'.repeat(255), `k${random.between(0, 40)}`]);
  return keyed(key, { fingerprint: random.pick(['f', 'f', 'g']), scope: random.pick(['', 'u']) });
};

const writeOf = (random: Random, n: number) => ({
  at: timeOf(random, n),
  idempotency: keyOf(random),
  onlyUserId: random.chance(0.1) ? random.pick(users) : null,
});

const readOf = (random: Random, n: number) => ({
  now: timeOf(random, n),
  onlyUserId: random.chance(0.1) ? random.pick(users) : null,
});

const fieldsOf = (random: Random, n: number, id: string) => {
  const [source, externalId] = [random.pick(names), random.pick(names)];
  const [content, json] = [random.pick(texts), random.pick(metadata)];
  const [occurredAt, expiresAt] = [anyTime(random, n), anyTime(random, n)];
  const userId = random.chance(0.5) ? 'u' : random.pick(users);
  return memory({ id, userId, content, metadata: json, source, externalId, occurredAt, expiresAt });
};

const changesOf = (random: Random, n: number): MemoryChanges => ({
  ...(random.chance(0.5) && { content: random.pick(texts) }),
  ...(random.chance(0.5) && { metadata: random.pick(metadata) }),
  ...(random.chance(0.3) && { occurredAt: anyTime(random, n) }),
  ...(random.chance(0.3) && { expiresAt: anyTime(random, n) }),
});

const importedOf = (random: Random, n: number): StoredMemory => {
  const createdAt = anyTime(random, n) ?? n;
  return {
    ...fieldsOf(random, n, idOf(random.fork('no strange id'), n).padEnd(5, 'x').slice(0, 68)),
    id: random.chance(0.5) ? `mem_${random.pick(ids)}` : `mem_w${random.between(0, n + 1)}`,
    type: random.pick(['memory', 'ticket', 'document', 'event'] as const),
    status: random.pick(['complete', 'processing', 'failed'] as const),
    version: random.pick([1, 2, 1_000_000_000_000]),
    createdAt,
    updatedAt: random.pick([createdAt, firstMs, lastMs]),
  };
};

const many = <T>(random: Random, make: (index: number) => T): T[] =>
  Array.from({ length: random.between(0, 7) }, (_, index) => make(index));

const versionOf = (random: Random) =>
  random.pick([null, null, 0, 1, 2, -1, 2 ** 31, 2 ** 53, 2 ** 63, 1e300]);

const pageOf = (random: Random) => ({
  limit: random.pick([1, 2, 3, 100]),
  order: random.pick(['asc', 'desc'] as const),
  filter: random.chance(0.5) ? {} : random.pick(filters),
});

const positions = [
  ...['', 'x', '0 mem_a', '-62167219200000 mem_a', '9999999999999999 mem_a'],
  `-1 mem_${'z'.repeat(64)}`,
  ...['0 mem_a u', '5 mem_a \u{10ffff}', '1000000000 mem_w1 u', '0 mem_é'],
];

const runs: Record<string, Run> = {
  save: (project, random, n) => {
    return project.save(fieldsOf(random, n, `mem_w${n}`), writeOf(random, n));
  },
  update: (project, random, n) => {
    const [id, changes] = [idOf(random, n), changesOf(random, n)];
    const write = { ...writeOf(random, n), expectedVersion: versionOf(random) };
    return project.update(id, changes, write);
  },
  remove: (project, random, n) => {
    const [id, write] = [idOf(random, n), writeOf(random, n)];
    return project.remove(id, { ...write, expectedVersion: versionOf(random) });
  },
  ingest: (project, random, n) => {
    const fields = { ...fieldsOf(random, n, `mem_w${n}`), type: 'document' as const };
    return project.ingest(fields, writeOf(random, n));
  },
  batch: (project, random, n) => {
    const type = random.pick(['event', 'document'] as const);
    const same = random.chance(0.4) ? { userId: 'u', externalId: 'same' } : {};
    const records = many(random, (index) => {
      return { ...fieldsOf(random, n, `mem_w${n}_${index}`), type, ...same };
    });
    return project.acceptBatch(records, writeOf(random, n));
  },
  import: (project, random, n) => {
    const items = many(random, () => importedOf(random, n));
    return project.import(items, writeOf(random, n));
  },
  erase: (project, random, n) => {
    return project.erase(random.pick([...users, 'nobody']), writeOf(random, n));
  },
  maintain: (_, __, n, { storage }) => {
    return storage.maintain({ now: 1_000_000 + 1_000 * n, elapsedMs: 1_000 });
  },
  work: async (_, random, n, { storage }) => {
    const now = timeOf(random, n);
    const ending = random.pick(['complete', 'retry', 'fail', 'release']);
    const tasks = await claim(storage, { now, limit: random.between(1, 4) });
    const ends = tasks.map((task, index) => {
      if (ending === 'complete') return storage.completeTasks([{ ...task, now, chunks: 3 }]);
      if (ending === 'release') return storage.releaseTask(task);
      const retryAt = ending === 'retry' ? now + 5_000 + index : null;
      return storage.failTask({ ...task, now, retryAt, errorMessage: 'no' });
    });
    return [tasks.map(({ memoryId, attempt }) => [memoryId, attempt]), await Promise.all(ends)];
  },
  get: (project, random, n) => {
    const [id, read] = [idOf(random, n), readOf(random, n)];
    const offset = random.pick([0, 1, 2_999, 2 ** 30]);
    const range = { offset, length: random.pick([0, 1, 8_000]) };
    return project.get(id, random.chance(0.5) ? read : { ...read, range });
  },
  statuses: (project, random, n) => {
    const wanted = many(random, () => idOf(random, n));
    return project.statuses(wanted, readOf(random, n));
  },
  status: (project, random, n) => project.status(idOf(random, n), readOf(random, n)),
  list: (project, random, n) => {
    const [userId, page] = [random.pick(users), { ...readOf(random, n), ...pageOf(random) }];
    if (random.chance(0.3)) return project.page(userId, { ...page, after: random.pick(positions) });
    return walk((after) => project.page(userId, { ...page, after }));
  },
  export: (project, random, n) => {
    const [read, { limit }] = [readOf(random, n), pageOf(random)];
    if (!random.chance(0.3)) return project.exportPage({ ...read, limit: 100 });
    return project.exportPage({ ...read, limit, after: random.pick(positions) });
  },
  users: (project, random, n) => {
    const [read, { limit }] = [readOf(random, n), pageOf(random)];
    return walk((after) => project.users({ ...read, limit, after }));
  },
  tasks: (project, random, n) => {
    const [read, { limit }] = [readOf(random, n), pageOf(random)];
    const status = random.pick(['processing', 'failed'] as const);
    return walk((after) => project.tasks(status, { ...read, limit, after }));
  },
  measure: (project, random, n) => project.measure(readOf(random, n)),
  search: (project, random, n) => {
    const [userId, read] = [random.pick(['u', ...users]), readOf(random, n)];
    const query = `${random.pick(texts).slice(0, 300)} ${random.pick(texts).slice(0, 300)}`;
    const filter = random.chance(0.7) ? {} : random.pick(filters);
    return project.search(query, { ...read, userId, filter, limit: 20, explain: true });
  },
  queue: (_, __, ___, { storage }) => storage.taskQueueState(),
};

const weights: Record<string, number> = { update: 3, remove: 2, batch: 3, search: 2, list: 2 };
const weighted = Object.keys(runs).flatMap((name) => Array<string>(weights[name] ?? 1).fill(name));

/** The operations draw the same values on each backend, from generators of their own. */
export function hostileOperations(seed: number, count: number): Operation[] {
  return Array.from({ length: count }, (_, n) => {
    const random = createRandom(seed).fork(n);
    const name = n % savesEvery === 0 ? 'save' : random.pick(weighted);
    const run: Operation['run'] = async (project, opened) =>
      runs[name]?.(project, random.fork(name), n, opened);
    return { name: `${name} (seed ${seed}, number ${n})`, run };
  });
}
