import { statSync } from 'node:fs';
import type { Benchmark, Context, Section } from './kit/benchmark.ts';
import { searcher, tableOf, usersWith } from './kit/dataset.ts';
import { atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import {
  median,
  type Ratio,
  ratioOf,
  short,
  showBytes,
  showCount,
  showRatio,
} from './kit/numbers.ts';
import { firstPages, lastPage, memoryPaths, searches } from './kit/paths.ts';
import { stopAll } from './kit/process.ts';
import { gets, type NextRequest, saves, uncachedGets } from './kit/requests.ts';
import { inTurn, measureEach } from './kit/rounds.ts';
import { startService } from './kit/service.ts';

/** The numbers of distinct memories and users that the reads request. */
const memories = 2_000;
const listUsers = 100;
const most = 1.3;
/** Users with about as many memories as `searcher`. */
const similar = { least: 900, most: 1_100, limit: 20 };

const kinds = {
  first: 'list, first page of 20',
  last: 'list, page 1,000',
  get: 'get',
  status: 'status',
  save: 'save',
  search: 'search of 1,000 memories',
  scattered: 'search of about 1,000 memories, scattered over the table',
};
type Kind = keyof typeof kinds;
const allKinds = Object.keys(kinds) as Kind[];

type Grown = { size: number; bytes: number; of: Record<Kind, { growth: Ratio; ms: number }> };

/** The latency of the same requests, one at a time, with a small table and with a large one. */
export const growth: Benchmark = {
  ids: ['S4', 'S6c'],
  title: 'As the table grows',
  async run(context) {
    const [smallest = 0, ...larger] = context.sizes;
    const grown: Grown[] = [];
    for (const size of larger) grown.push(await compare(context, smallest, size));
    return section(smallest, grown);
  },
};

async function compare(context: Context, from: number, to: number): Promise<Grown> {
  const { rounds, seconds } = context;
  const started = {
    small: await start(context, from, [searcher.userId]),
    large: await start(context, to, usersWith(to, similar)),
  };
  const of = {} as Grown['of'];
  for (const kind of allKinds) {
    // The latency of a shared disk varies most over short periods, and searches take longer.
    const length = /save|search/.test(kinds[kind]) ? seconds : seconds / 2;
    const measurements = measureEach(started, ({ url, requests }) => {
      const options = { url, connections: 1, seconds: length, next: requests[kind] };
      return async () => (await load(options)).p50Ms;
    });
    const { small, large } = await inTurn(rounds, measurements);
    of[kind] = { growth: ratioOf(large, small), ms: median(large) };
  }
  await stopAll();
  return { size: to, bytes: started.large.bytes, of };
}

async function start({ folder, database, current: tree }: Context, size: number, users: string[]) {
  const path = await database(tree, tableOf(size));
  // Loads the file into the page cache, so that the disk's seek time is not measured.
  for await (const _ of Bun.file(path).stream());
  const { url } = await startService(folder, { tree, database: path });
  const paths = memoryPaths(size, memories);
  const requests: Record<Kind, NextRequest> = {
    first: uncachedGets(firstPages(size, listUsers)),
    last: uncachedGets([await lastPage(url)]),
    get: gets(paths),
    status: gets(paths.map((path) => `${path}/status`)),
    save: saves(),
    search: gets(searches(searcher.userId)),
    scattered: gets(users.flatMap(searches)),
  };
  return { url, requests, bytes: statSync(path).size };
}

function section(smallest: number, grown: Grown[]): Section {
  const goals = allKinds.flatMap((kind) =>
    grown.map(({ size, of }) => {
      const measure = `${kinds[kind]}: time with ${showCount(size)} / with ${showCount(smallest)} memories`;
      const id = /search/.test(kinds[kind]) ? 'S6c' : 'S4';
      return atMost(id, measure, of[kind].growth, most);
    }),
  );
  const rows = grown.map(({ size, bytes, of }) => [
    showCount(size),
    showBytes(bytes),
    ...allKinds.map((kind) => {
      const { growth, ms } = of[kind];
      return `${showRatio(growth)}; ${short(ms)} ms`;
    }),
  ]);
  const title =
    'Median time of one request over one connection, with the files in the page cache, as a ' +
    `multiple of the time with ${showCount(smallest)} memories and in ms`;
  const head = ['memories', 'file', ...allKinds.map((kind) => kinds[kind])];
  return { goals, tables: [{ title, head, rows }] };
}
