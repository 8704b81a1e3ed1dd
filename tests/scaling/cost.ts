import { newMemoryId } from '../../server/ids.ts';
import { filterOf } from '../../server/memory/filter.ts';
import { openStorage } from '../../server/storage/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { median, ratioOf, showRatio } from '../bench/kit/numbers.ts';
import { familyMicros } from '../bench/kit/process.ts';
import { inTurn } from '../bench/kit/rounds.ts';
import { keyed, memory, record } from '../storage/fixtures.ts';
import { query } from '../support/postgres.ts';

/*
 * Runs the same operations on a plain database and, if it is given, on a cluster, alternately.
 * Prints the rates, their ratios, the CPU time of each operation in this process and in each
 * database server, and the bytes of each row. All servers run on this machine, so the rates say
 * nothing about a real cluster.
 *
 *   bun tests/scaling/cost.ts <URL of a plain database> [<URL of a coordinator> [<of a worker>…]]
 */

const rounds = 5;
const clients = 32;
const users = 200;
const memoriesOfUser = 50;
const batch = 20;
const contentLength = 115;
const tables = ['memories', 'users', 'idempotency_keys', 'tasks'];
const words = 'the delivery of order invoice was late and customer wrote about weather'.split(' ');

type Opened = { storage: Storage; projectId: number; servers: number[] };
type Operation = (opened: Opened, userId: string) => Promise<unknown>;

const read = { now: 2_000, onlyUserId: null, filter: filterOf({}) };

function fieldsOf(userId: string) {
  let content = '';
  while (content.length < contentLength) {
    content += `${words[Math.floor(Math.random() * words.length)]} `;
  }
  return { id: newMemoryId(), userId, content: content.slice(0, contentLength) };
}

const save =
  (isKeyed: boolean): Operation =>
  ({ storage, projectId }, userId) => {
    const idempotency = isKeyed ? keyed(crypto.randomUUID()) : null;
    return storage.saveMemory({
      projectId,
      at: 1_000,
      idempotency,
      memory: memory(fieldsOf(userId)),
    });
  };

const operations: Record<string, { count: number; run: Operation }> = {
  'keyed save': { count: 2_000, run: save(true) },
  'save without a key': { count: 2_000, run: save(false) },
  'list of 20': {
    count: 1_000,
    run: ({ storage, projectId }, userId) =>
      storage.listMemories({ ...read, projectId, userId, order: 'desc', after: null, limit: 20 }),
  },
  search: {
    count: 1_000,
    run: ({ storage, projectId }, userId) =>
      storage.searchMemories({ ...read, projectId, userId, query: 'delivery invoices', limit: 10 }),
  },
  [`records in batches of ${batch} of one user`]: {
    count: 100,
    run: ({ storage, projectId }, userId) => {
      const records = Array.from({ length: batch }, () => record(fieldsOf(userId)));
      const write = { projectId, at: 1_000, idempotency: null, batch: null };
      return storage.acceptRecords({ ...write, records });
    },
  },
};

/** Runs an operation `count` times, each time by the next of the clients that is idle. */
async function inParallel(count: number, opened: Opened, run: Operation): Promise<void> {
  let next = 0;
  const client = async () => {
    while (next < count) await run(opened, `user-${next++ % users}`);
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Opens the first database, whose servers have these URLs. */
async function open([url = '', ...workers]: string[]): Promise<Opened> {
  const storage = await openStorage(url);
  const projectId = await storage.ensureProject(`cost ${crypto.randomUUID()}`);
  const opened = {
    storage,
    projectId,
    servers: await Promise.all([url, ...workers].map(serverOf)),
  };
  await inParallel(users * memoriesOfUser, opened, save(false));
  return opened;
}

/** Returns the process id of the server, whose processes may only be seen on its machine. */
async function serverOf(url: string): Promise<number> {
  const text = `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int AS pid`;
  return Number((await query(url, text))[0]?.pid);
}

/** Returns the rate, and the CPU time of this process and of each server per operation, in µs. */
async function measure(opened: Opened, { count, run }: { count: number; run: Operation }) {
  const before = opened.servers.map(familyMicros);
  const own = process.cpuUsage();
  const begun = performance.now();
  await inParallel(count, opened, run);
  const perSecond = (count * 1_000) / (performance.now() - begun);
  const { user, system } = process.cpuUsage(own);
  const used = opened.servers.map((server, at) => familyMicros(server) - (before[at] ?? 0));
  return { perSecond, micros: [user + system, ...used].map((all) => all / count) };
}

type Measured = Awaited<ReturnType<typeof measure>>;

function show(name: string, measured: Measured[]): void {
  const rate = median(measured.map(({ perSecond }) => perSecond));
  const columns = measured[0]?.micros.keys() ?? [];
  const micros = [...columns].map((at) => median(measured.map((one) => one.micros[at] ?? 0)));
  console.log(
    `${name}: ${rate.toFixed(0)} per second, CPU µs ${micros.map(Math.round).join(', ')}`,
  );
}

async function showBytes(url: string): Promise<void> {
  for (const table of tables) {
    await query(url, `VACUUM ${table}`);
    const [row] = await query(
      url,
      `SELECT count(*)::int AS rows, pg_table_size('${table}') / count(*) AS heap,
         pg_indexes_size('${table}') / count(*) AS indexes FROM ${table}`,
    );
    const { rows, heap, indexes } = row as Record<string, number>;
    console.log(`${table}: ${rows} rows, each ${heap} bytes, plus ${indexes} bytes of indexes`);
  }
}

const [plainUrl, ...clusterUrls] = process.argv.slice(2);
if (plainUrl === undefined) throw new Error('missing argument: the URL of a database');
const plain = await open([plainUrl]);
const cluster = clusterUrls.length > 0 ? await open(clusterUrls) : null;
for (const [name, operation] of Object.entries(operations)) {
  const measured = await inTurn(
    rounds,
    {
      plain: () => measure(plain, operation),
      ...(cluster !== null && { cluster: () => measure(cluster, operation) }),
    },
    0,
  );
  for (const [where, all] of Object.entries(measured)) show(`${name}, ${where}`, all);
  const rates = (all: Measured[] = []) => all.map(({ perSecond }) => perSecond);
  const ratio = showRatio(ratioOf(rates(measured.cluster), rates(measured.plain)));
  if (cluster !== null) console.log(`  relative to the plain rate: ${ratio}`);
}
await showBytes(plainUrl);
await plain.storage.close();
await cluster?.storage.close();
process.exit(0);
