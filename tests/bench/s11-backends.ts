import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { newPrimary, type PostgresNode } from '../support/postgres-pair.ts';
import type { Benchmark, Context, Section, Table } from './kit/benchmark.ts';
import { ingestBatches, waitForMemory, waitForQueue } from './kit/client.ts';
import { importDataset } from './kit/databases.ts';
import { searcher, tableOf } from './kit/dataset.ts';
import { atLeast } from './kit/goals.ts';
import { type Load, load, type Measured } from './kit/load.ts';
import { median, ratioOf, short } from './kit/numbers.ts';
import { firstPages, searches } from './kit/paths.ts';
import { familyMicros, type Subject, startSubject } from './kit/process.ts';
import { gets, keyedSaves, saves } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { serviceEnv, startService } from './kit/service.ts';

const connections = 64;
const table = tableOf(20_000);
const listUsers = 50;
/** The delay that the proxy adds to everything that a server sends to the database. */
const delayMs = 1;
const perBatch = 1_000;
const batchSenders = 4;
const leastSeconds = 0.5;

/** The subjects under test, in the order of the table rows. */
const subjects = {
  sqlite: 'SQLite',
  one: 'PostgreSQL, 1 server',
  two: 'PostgreSQL, 2 servers',
  three: 'PostgreSQL, 3 servers',
  perRequest: 'PostgreSQL, 1 server, one transaction per request',
  far: `PostgreSQL ${delayMs} ms away, 1 server`,
  farThree: `PostgreSQL ${delayMs} ms away, 3 servers`,
  farPerRequest: `PostgreSQL ${delayMs} ms away, 1 server, one transaction per request`,
};
type Name = keyof typeof subjects;
const names = Object.keys(subjects) as Name[];

const operations = {
  save: 'Saves of 100 bytes (S1)',
  keyed: 'Saves with an idempotency key (S1)',
  list: 'Lists of 20 (S3)',
  search: 'Searches of one user’s 1,000 memories (S6)',
  ingest: 'Records ingested in batches of 1,000, until complete (S5)',
};
type Operation = keyof typeof operations;

/** CPU times are per operation. */
type Figure = Pick<Measured, 'perSecond' | 'p50Ms' | 'p99Ms'> & {
  serverMicros: number;
  databaseMicros: number;
};
type Figures = Partial<Record<Operation, Figure>>;

/** Compares SQLite with PostgreSQL: one to three servers, a local database and one 1 ms away. */
export const backends: Benchmark = {
  ids: ['S11'],
  title: 'SQLite and PostgreSQL',
  async run(context) {
    await using node = await newPrimary({ base: dirname(context.folder) });
    return section(await measure(context, node));
  },
};

async function measure(context: Context, node: PostgresNode): Promise<Record<Name, Figures[]>> {
  const far = await startSubject('subjects/delay', context.folder, { port: node.port, delayMs });
  const databaseOf = async (name: Name): Promise<string> => {
    if (name === 'sqlite') return join(context.folder, 'backends.db');
    await node.query(`CREATE DATABASE ${name.toLowerCase()}`);
    const url = new URL(node.url);
    url.pathname = name.toLowerCase();
    if (name.startsWith('far')) url.port = new URL(far.url).port;
    return url.href;
  };
  const measurements: Partial<Record<Name, () => Promise<Figures>>> = {};
  for (const name of names) {
    const database = await databaseOf(name);
    await fill(context, database);
    measurements[name] = async () => {
      const servers = await start(context, name, database);
      const figures = await measureFleet(context, name, servers, databasePid(node));
      for (const server of servers) await server.stop();
      return figures;
    };
  }
  const all = measurements as Record<Name, () => Promise<Figures>>;
  const measured = await inTurn(context.quick ? 3 : context.rounds, all);
  return measured;
}

async function fill({ folder, current: tree }: Context, database: string): Promise<void> {
  const service = await startService(folder, { tree, database });
  await importDataset(service.url, table);
  await service.stop();
}

function start(context: Context, name: Name, database: string): Promise<Subject[]> {
  const { folder, current: tree } = context;
  if (isPerRequest(name)) {
    const spec = { env: serviceEnv, postgres: database };
    return Promise.all([startSubject('internals/app', folder, spec)]);
  }
  const count = { two: 2, three: 3, farThree: 3 }[name as string] ?? 1;
  return Promise.all(Array.from({ length: count }, () => startService(folder, { tree, database })));
}

function isPerRequest(name: Name): boolean {
  return name === 'perRequest' || name === 'farPerRequest';
}

/** Reads PostgreSQL's process id from the first line of its lock file. */
function databasePid({ folder }: PostgresNode): number {
  return Number.parseInt(readFileSync(join(folder, 'postmaster.pid'), 'utf8'), 10);
}

async function measureFleet(
  { seconds, quick }: Context,
  name: Name,
  servers: readonly Subject[],
  databasePid: number,
): Promise<Figures> {
  const loadSeconds = Math.max(leastSeconds, seconds);
  const micros = () => ({
    server: servers.reduce((sum, { pid }) => sum + familyMicros(pid), 0),
    database: name === 'sqlite' ? 0 : familyMicros(databasePid),
  });
  async function withCpu(
    run: () => Promise<Omit<Figure, 'serverMicros' | 'databaseMicros'> & { count: number }>,
  ): Promise<Figure> {
    const before = micros();
    const { count, ...measured } = await run();
    const after = micros();
    return {
      ...measured,
      serverMicros: (after.server - before.server) / count,
      databaseMicros: (after.database - before.database) / count,
    };
  }
  const loaded = (next: Load['next']) =>
    withCpu(() => loadAll(servers, { connections, seconds: loadSeconds, next }));

  const save = saves();
  await loadAll(servers, { connections, seconds: loadSeconds / 2, next: save });
  const figures: Figures = { save: await loaded(save) };
  if (isPerRequest(name)) return figures;
  figures.keyed = await loaded(keyedSaves());
  figures.list = await loaded(gets(firstPages(table.count, listUsers)));
  const search = gets(searches(searcher.userId));
  // On each server, a user's first search builds that user's index.
  await loadAll(servers, { connections: servers.length * 4, seconds: 0.2, next: search });
  figures.search = await loaded(search);
  figures.ingest = await withCpu(() => ingest(servers, quick ? 5_000 : 20_000));
  return figures;
}

/** Spreads the connections evenly over the servers. Returns the highest latencies of any server. */
async function loadAll(
  servers: readonly Subject[],
  options: Omit<Load, 'url'>,
): Promise<Pick<Measured, 'perSecond' | 'p50Ms' | 'p99Ms'> & { count: number }> {
  const each = Math.ceil(options.connections / servers.length);
  const all = await Promise.all(
    servers.map(({ url }) => load({ ...options, connections: each, url })),
  );
  return {
    count: all.reduce((sum, { requests }) => sum + requests, 0),
    perSecond: all.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50Ms: Math.max(...all.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...all.map(({ p99Ms }) => p99Ms)),
  };
}

async function ingest(servers: readonly Subject[], count: number) {
  const urls = servers.map(({ url }) => url);
  const [first = ''] = urls;
  const begun = performance.now();
  const last = await ingestBatches(urls, { from: 0, count, perBatch, senders: batchSenders });
  await waitForMemory(first, last);
  await waitForQueue(first);
  const perSecond = (count * 1_000) / (performance.now() - begun);
  return { count, perSecond, p50Ms: Number.NaN, p99Ms: Number.NaN };
}

function section(measured: Record<Name, Figures[]>): Section {
  const rates = (name: Name, operation: Operation) =>
    measured[name].map((figures) => figures[operation]?.perSecond ?? Number.NaN);
  const goal = (near: string, name: Name, perRequest: Name) =>
    atLeast(
      'S11',
      `saves on PostgreSQL, ${near}: relative to one transaction per request`,
      ratioOf(rates(name, 'save'), rates(perRequest, 'save')),
      3,
      { unit: ' ×' },
    );
  return {
    goals: [
      goal('same machine', 'one', 'perRequest'),
      goal(`${delayMs} ms away`, 'far', 'farPerRequest'),
    ],
    tables: (Object.keys(operations) as Operation[]).map((operation) =>
      tableFor(operation, measured),
    ),
    notes: [
      `The load generator, the servers and PostgreSQL share this machine, so more servers cannot ` +
        'add capacity here. The tables show what each server costs. Cores are CPU seconds per ' +
        'second. The files of both databases are on the same disk, and every commit is synced to it.',
    ],
  };
}

function tableFor(operation: Operation, measured: Record<Name, Figures[]>): Table {
  const rows = names.flatMap((name) => {
    const figures = measured[name].flatMap((all) => all[operation] ?? []);
    if (figures.length === 0) return [];
    const middle = (pick: (figure: Figure) => number) => median(figures.map(pick));
    const rate = middle(({ perSecond }) => perSecond);
    const cores = (micros: number) => short((micros * rate) / 1e6);
    const server = middle(({ serverMicros }) => serverMicros);
    const database = middle(({ databaseMicros }) => databaseMicros);
    const sqlite = ratioOf(
      figures.map(({ perSecond }) => perSecond),
      measured.sqlite.map((all) => all[operation]?.perSecond ?? Number.NaN),
    );
    return [
      [
        subjects[name],
        short(rate),
        short(sqlite.median),
        ...[middle(({ p50Ms }) => p50Ms), middle(({ p99Ms }) => p99Ms)].map(short),
        ...[short(server), cores(server), short(database), cores(database)],
      ],
    ];
  });
  const head = ['', 'per second', 'relative to SQLite', 'p50 ms', 'p99 ms'];
  const cpu = ['server CPU µs', 'server cores', 'database CPU µs', 'database cores'];
  return { title: operations[operation], head: [...head, ...cpu], rows };
}
