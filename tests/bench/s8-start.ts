import { statSync } from 'node:fs';
import { memoryBytes } from '../support/process.ts';
import type { Benchmark, Context, Goal } from './kit/benchmark.ts';
import { cliEnv, measureCommand } from './kit/cli.ts';
import { fetchText } from './kit/client.ts';
import { searchUsers, tableOf } from './kit/dataset.ts';
import { atMost } from './kit/goals.ts';
import { lineChart } from './kit/line-chart.ts';
import { load } from './kit/load.ts';
import {
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
import { searchDataset, searchGroups } from './s6-search.ts';

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
    const memory = await measureMemory(context);
    return {
      goals: [startGoal(started, context.size), ...memoryGoals(memory, context)],
      tables: [startTable(started), memoryTable(memory, context)],
      charts: [memoryChart(memory, context)],
      notes: [
        'Under load, 16 connections save, 4 list, and 2 search the memories of ' +
          `${searchGroups(context.quick)[0]?.users} users with 1,000 each. ` +
          'Resident memory is the VmRSS of the process, covering all threads; it includes pages of ' +
          'files that are mapped into memory.',
      ],
    };
  },
};

type Started = Record<'service' | 'bun', number[]>;

/** Measures the time from the start of the process to the response to the first list, in ms. */
async function measureStart(context: Context): Promise<Started> {
  const { folder, rounds, size, current: tree } = context;
  const database = await context.database(tree, tableOf(size));
  const start = () => startService(folder, { tree, database });
  const service = await start();
  const [path = ''] = await firstPages(service.url, size, 1);
  await service.stop();
  return inTurn(rounds, {
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
}

function startGoal({ service }: Started, size: number): Goal {
  const measure = `start to first response, ${showCount(size)} memories`;
  return atMost('S8', measure, spreadOf(service), withinMs, { unit: ' ms' });
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

async function measureMemory(context: Context): Promise<Memory> {
  const { copyOf, folder, quick, memorySeconds: seconds, current: tree } = context;
  const idle = await measureIdle(context);
  const path = await copyOf(tree, searchDataset(quick));
  const service = await startService(folder, { tree, database: path });
  const { url, pid } = service;
  const users = searchUsers(searchGroups(quick)[0] ?? { memories: 0, users: 0 });
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
  return { idle, loaded, log };
}

async function measureIdle({ folder, size, current, ...context }: Context): Promise<number> {
  const database = await context.database(current, tableOf(size));
  const service = await startService(folder, { tree: current, database });
  await Bun.sleep(settleMs);
  const idle = memoryBytes(service.pid);
  await service.stop();
  return idle;
}

/** Returns the memory in the last third of the time under load, relative to the middle third. */
function growthOf({ loaded }: Memory): number {
  const third = Math.floor(loaded.length / 3);
  return median(loaded.slice(-third)) / median(loaded.slice(third, 2 * third));
}

function memoryGoals(memory: Memory, context: Context): Goal[] {
  const megabytes = (bytes: number) => spreadOf([bytes / 1_000_000]);
  const measure = `resident memory, ${context.memorySeconds} s under load`;
  return [
    atMost(
      'S8',
      `idle resident memory, ${showCount(context.size)} memories`,
      megabytes(memory.idle),
      idleMegabytes,
      { unit: ' MB' },
    ),
    atMost(
      'S8',
      `${measure}: highest sample`,
      megabytes(Math.max(...memory.loaded)),
      loadedMegabytes,
      { unit: ' MB' },
    ),
    atMost(
      'S8',
      `${measure}: last third / middle third`,
      spreadOf([growthOf(memory)]),
      growthLimit,
      {
        notJudged: context.quick ? 'a quick run is too short' : undefined,
      },
    ),
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
