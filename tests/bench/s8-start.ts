import { statSync } from 'node:fs';
import { memoryBytes } from '../support/process.ts';
import type { Benchmark, Context, Goal } from './kit/benchmark.ts';
import { cliEnv, measureCommand } from './kit/cli.ts';
import { fetchText } from './kit/client.ts';
import { tableOf } from './kit/dataset.ts';
import { atMost } from './kit/goals.ts';
import { lineChart } from './kit/line-chart.ts';
import { load } from './kit/load.ts';
import {
  growthOf,
  median,
  ratioOf,
  short,
  showBytes,
  showCount,
  showRatio,
  spreadOf,
} from './kit/numbers.ts';
import { firstPages, searches } from './kit/paths.ts';
import { gets, saves, uncachedGets } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { startService } from './kit/service.ts';
import { searchDataset, smallUsers } from './s6-search.ts';

const withinMs = 300;
const idleMegabytes = 100;
const loadedMegabytes = 350;
/** The permitted growth, as a ratio. A smaller ratio is normal heap fluctuation. */
const growthLimit = 1.1;
const settleMs = 1_000;
const sampleEveryMs = 250;
const chartPoints = 150;

/** How long the service takes to start, and the resident memory of its process. */
export const startUp: Benchmark = {
  ids: ['S8'],
  title: 'Start and memory',
  async run(context) {
    const started = await measureStart(context);
    const memory = { idle: started.idle, ...(await measureMemory(context)) };
    return {
      goals: goalsOf(started, memory, context),
      tables: [startTable(started), memoryTable(memory, context)],
      charts: [memoryChart(memory, context)],
      notes: [
        'Under load, 16 connections save, 4 list, and 2 search the memories of ' +
          `${smallUsers(context.quick).length} users with 1,000 each. ` +
          'Resident memory is the VmRSS of the process, covering all threads; it includes pages of ' +
          'files that are mapped into memory.',
      ],
    };
  },
};

type Started = Awaited<ReturnType<typeof measureStart>>;

/**
 * Measures the time from the start of the process to the response to the first list, in ms, and the
 * resident memory before it.
 */
async function measureStart(context: Context) {
  const { folder, rounds, size, current: tree } = context;
  const database = await context.database(tree, tableOf(size));
  const start = () => startService(folder, { tree, database });
  const service = await start();
  await Bun.sleep(settleMs);
  const idle = memoryBytes(service.pid);
  const [path = ''] = await firstPages(service.url, size, 1);
  await service.stop();
  const times = await inTurn(rounds, {
    async service() {
      const begun = performance.now();
      const service = await start();
      await fetchText(service.url, path);
      const ms = performance.now() - begun;
      await service.stop();
      return ms;
    },
    bun: async () => (await measureCommand([process.execPath, '-e', '0'], cliEnv(folder))).ms,
  });
  return { idle, ...times };
}

function startTable({ service, bun }: Started) {
  const row = (name: string, ms: number[]) => [
    name,
    short(median(ms)),
    showRatio(ratioOf(ms, bun)),
  ];
  return {
    title:
      'Time from `memory serve` to the response to the first list request, with the files in the ' +
      'page cache',
    head: ['', 'ms', 'relative to `bun -e 0`'],
    rows: [row('the service', service), row('`bun -e 0`', bun)],
  };
}

/** Resident memory, and the size of the write-ahead log under load, in bytes. */
type Memory = { idle: number; loaded: number[]; log: number[] };

async function measureMemory(context: Context): Promise<Omit<Memory, 'idle'>> {
  const { copyOf, folder, quick, memorySeconds: seconds, current: tree } = context;
  const path = await copyOf(tree, searchDataset(quick));
  const service = await startService(folder, { tree, database: path });
  const { url, pid } = service;
  const users = smallUsers(quick);
  const lists = users.map((userId) => `/v1/memories?userId=${userId}&limit=20`);
  const [loaded, log]: [number[], number[]] = [[], []];
  const timer = setInterval(() => {
    loaded.push(memoryBytes(pid));
    log.push(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0);
  }, sampleEveryMs);
  await Promise.all([
    load({ url, connections: 16, seconds, next: saves() }),
    load({ url, connections: 4, seconds, next: uncachedGets(lists) }),
    load({ url, connections: 2, seconds, next: gets(users.flatMap(searches)) }),
  ]);
  clearInterval(timer);
  await service.stop();
  return { loaded, log };
}

function goalsOf({ service }: Started, { idle, loaded }: Memory, context: Context): Goal[] {
  const { size, memorySeconds, quick } = context;
  const megabytes = (bytes: number) => spreadOf([bytes / 1_000_000]);
  const all = `${showCount(size)} memories`;
  const load = `resident memory, ${memorySeconds} s under load`;
  const [ms, unit] = [{ unit: ' ms' }, { unit: ' MB' }];
  const notJudged = quick ? 'a quick run is too short' : undefined;
  const [highest, growth] = [megabytes(Math.max(...loaded)), spreadOf([growthOf(loaded)])];
  return [
    atMost('S8', `start to first response, ${all}`, spreadOf(service), withinMs, ms),
    atMost('S8', `idle resident memory, ${all}`, megabytes(idle), idleMegabytes, unit),
    atMost('S8', `${load}: highest sample`, highest, loadedMegabytes, unit),
    atMost('S8', `${load}: last third / middle third`, growth, growthLimit, { notJudged }),
  ];
}

function memoryTable({ idle, loaded }: Memory, { memorySeconds }: Context) {
  const row = [
    'the service',
    showBytes(idle),
    ...[1 / 3, 2 / 3, 1].map((share) =>
      showBytes(loaded[Math.ceil(loaded.length * share) - 1] ?? Number.NaN),
    ),
    showBytes(Math.max(...loaded)),
  ];
  return {
    title: `Resident memory, ${memorySeconds} s under load`,
    head: ['', 'idle', 'after a third', 'after two thirds', 'at the end', 'highest'],
    rows: [row],
  };
}

/** Shows the highest sample of each few seconds. */
function memoryChart({ loaded, log }: Memory, { memorySeconds }: Context) {
  const count = Math.min(chartPoints, loaded.length);
  const lineOf = (name: string, samples: number[]) => ({
    name,
    points: Array.from({ length: count }, (_, index) => {
      const at = (one: number) => Math.floor((one * samples.length) / count);
      const highest = Math.max(...samples.slice(at(index), at(index + 1)));
      return { x: (index * memorySeconds) / (count - 1), y: highest / 1_000_000 };
    }),
  });
  const seconds = [0, 1, 2, 3, 4, 5].map((fifths) => (fifths * memorySeconds) / 5);
  return lineChart({
    name: 'memory',
    title: 'Resident memory and write-ahead log under load',
    lines: [lineOf('resident memory', loaded), lineOf('write-ahead log', log)],
    marks: seconds.map((x) => ({ x, label: `${short(x)} s` })),
    yLabel: 'MB',
  });
}
