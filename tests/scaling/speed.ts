import { filterOf } from '../../server/memory/filter.ts';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { median } from '../bench/kit/numbers.ts';
import { keyed, memory, record } from '../storage/fixtures.ts';
import { inParallel } from './in-parallel.ts';

/*
 * Runs the same operations on two databases alternately and prints the ratios of their rates. Both
 * databases run on one machine, so the rates say nothing about a real cluster.
 *
 *   bun tests/scaling/speed.ts <URL of a plain database> <URL of a coordinator>
 */

const rounds = 5;
const clients = 32;
const users = 200;
const memoriesOfUser = 50;

type Opened = { storage: Storage; projectId: number };
type Operation = (opened: Opened, index: number) => Promise<unknown>;

const userOf = (index: number) => `user-${index % users}`;
const read = { now: 2_000, onlyUserId: null };
const newMemory = (userId: string) =>
  memory({ userId, content: `a memory of ${userId} about delivery, invoices and the weather` });

const operations: Record<string, { count: number; run: Operation }> = {
  'keyed save': {
    count: 2_000,
    run: ({ storage, projectId }, index) =>
      storage.saveMemory({
        projectId,
        at: 1_000,
        idempotency: keyed(crypto.randomUUID()),
        memory: newMemory(userOf(index)),
      }),
  },
  'save without a key': {
    count: 2_000,
    run: ({ storage, projectId }, index) =>
      storage.saveMemory({
        projectId,
        at: 1_000,
        idempotency: null,
        memory: newMemory(userOf(index)),
      }),
  },
  'list of 20': {
    count: 1_000,
    run: ({ storage, projectId }, index) =>
      storage.listMemories({
        ...read,
        projectId,
        userId: userOf(index),
        filter: filterOf({}),
        order: 'desc',
        after: null,
        limit: 20,
      }),
  },
  search: {
    count: 1_000,
    run: ({ storage, projectId }, index) =>
      storage.searchMemories({
        ...read,
        projectId,
        userId: userOf(index),
        filter: filterOf({}),
        query: 'delivery invoices',
        limit: 10,
      }),
  },
  'records accepted, in batches of 20 of one user': {
    count: 100,
    run: ({ storage, projectId }, index) =>
      storage.acceptRecords({
        projectId,
        at: 1_000,
        idempotency: null,
        records: Array.from({ length: 20 }, () => record({ userId: userOf(index) })),
        batch: null,
      }),
  },
};

async function open(url: string): Promise<Opened> {
  const storage = await openStorage(url);
  const projectId = await storage.ensureProject(`speed ${crypto.randomUUID()}`);
  const opened = { storage, projectId };
  const save = operations['save without a key']?.run;
  if (save === undefined) throw new Error('there is no such operation');
  await inParallel(users * memoriesOfUser, clients, (index) => save(opened, index));
  return opened;
}

async function perSecond(opened: Opened, { count, run }: { count: number; run: Operation }) {
  const begun = performance.now();
  await inParallel(count, clients, (index) => run(opened, index));
  return (count * 1_000) / (performance.now() - begun);
}

const [plainUrl, citusUrl] = process.argv.slice(2);
if (plainUrl === undefined || citusUrl === undefined)
  throw new Error('missing arguments: the URLs of two databases');
const plain = await open(plainUrl);
const citus = await open(citusUrl);
for (const [name, operation] of Object.entries(operations)) {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const first = await perSecond(plain, operation);
    ratios.push((await perSecond(citus, operation)) / first);
  }
  const shown = ratios.map((ratio) => ratio.toFixed(2)).join(' ');
  console.log(`${name}: ${median(ratios).toFixed(2)} of the plain rate (${shown})`);
}
await plain.storage.close();
await citus.storage.close();
process.exit(0);
