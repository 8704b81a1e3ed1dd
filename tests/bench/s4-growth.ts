import { statSync } from 'node:fs';
import type { Benchmark, Context } from './kit/benchmark.ts';
import { atMost } from './kit/goals.ts';
import { lineChart } from './kit/lines.ts';
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
import { firstPages, lastPage, memoryPaths } from './kit/paths.ts';
import { type Subject, serviceEnv, startSubject } from './kit/process.ts';
import { gets, getsAnew, saves } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';

/** Read all over the table, more than a first look would have warmed. */
const places = 2_000;
const users = 100;
const most = 1.3;

const kinds = {
  first: 'list, first page of 20',
  last: 'list, page 1,000',
  get: 'get',
  status: 'status',
  save: 'save',
};
type Kind = keyof typeof kinds;

type Grown = { size: number; bytes: number; ratios: Record<Kind, Ratio>; ms: Record<Kind, number> };

/** The same requests one after the other, against a small table and a large one in turn. */
export const growth: Benchmark = {
  ids: ['S4'],
  title: 'As the table grows',
  async run(context) {
    const [smallest = 0, ...larger] = context.sizes;
    const grown: Grown[] = [];
    for (const size of larger) grown.push(await compare(context, smallest, size));
    return section(smallest, grown);
  },
};

async function compare(context: Context, from: number, to: number): Promise<Grown> {
  const { folder, rounds, seconds, database, say } = context;
  const open = async (size: number) => {
    const path = await database(size);
    await readThrough(path);
    return startSubject('service', folder, { databaseUrl: `sqlite:${path}`, env: serviceEnv });
  };
  const small = await open(from);
  const large = await open(to);
  say(`  ${showCount(from)} beside ${showCount(to)}`);
  const requests = [await requestsFor(small, from), await requestsFor(large, to)] as const;
  const ratios = {} as Record<Kind, Ratio>;
  const ms = {} as Record<Kind, number>;
  for (const kind of Object.keys(kinds) as Kind[]) {
    const turn = (url: string, next: () => Uint8Array) => async () => {
      const { p50Ms } = await load({ url, connections: 1, seconds: seconds / 2, next });
      return p50Ms;
    };
    const measured = await inTurn(rounds, {
      large: turn(large.url, requests[1][kind]),
      small: turn(small.url, requests[0][kind]),
    });
    ratios[kind] = ratioOf(measured.large, measured.small);
    ms[kind] = median(measured.large);
  }
  await small.stop();
  await large.stop();
  return { size: to, bytes: statSync(await database(to)).size, ratios, ms };
}

/** So that the file is in memory: how fast the disk seeks is not what is measured. */
async function readThrough(path: string): Promise<void> {
  for await (const _ of Bun.file(path).stream());
}

async function requestsFor({ url }: Subject, size: number) {
  const ids = memoryPaths(size, places);
  return {
    first: getsAnew(await firstPages(url, size, users)),
    last: getsAnew([await lastPage(url)]),
    get: gets(ids),
    status: gets(ids.map((path) => `${path}/status`)),
    save: saves(),
  } satisfies Record<Kind, () => Uint8Array>;
}

function section(smallest: number, grown: Grown[]) {
  const all = Object.keys(kinds) as Kind[];
  const goals = all.flatMap((kind) =>
    grown.map(({ size, ratios }) => {
      const measure = `${kinds[kind]}, among ${showCount(size)} / among ${showCount(smallest)}`;
      return atMost('S4', measure, ratios[kind], most);
    }),
  );
  const rows = grown.map(({ size, bytes, ratios, ms }) => [
    showCount(size),
    showBytes(bytes),
    ...all.map((kind) => `${showRatio(ratios[kind])}; ${short(ms[kind])} ms`),
  ]);
  const title =
    'Median time of one request, one connection, files in the page cache, of the time among ' +
    showCount(smallest);
  const head = ['memories', 'file', ...all.map((kind) => kinds[kind])];
  return { goals, tables: [{ title, head, rows }], charts: [chartOf(smallest, grown)] };
}

function chartOf(smallest: number, grown: Grown[]) {
  const lines = (Object.keys(kinds) as Kind[]).map((kind) => ({
    name: kinds[kind],
    points: [
      { x: smallest, y: 1 },
      ...grown.map(({ size, ratios }) => ({ x: size, y: ratios[kind].middle })),
    ],
  }));
  const marks = [smallest, ...grown.map(({ size }) => size)].map((x) => {
    return { x, label: showCount(x) };
  });
  const yLabel = `time, as a multiple of the time among ${showCount(smallest)}`;
  const alt = 'Latency as the table grows';
  const svg = lineChart({ title: alt, lines, marks, yLabel, logX: true });
  return { name: 'growth', alt, svg };
}
