import { memoryBytes } from '../support/process.ts';
import type { Benchmark, Context, Goal } from './kit/benchmark.ts';
import { fetchText } from './kit/client.ts';
import { tableOf } from './kit/dataset.ts';
import { atMost } from './kit/goals.ts';
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
import { firstPage, firstPages, searches } from './kit/paths.ts';
import { gets, saves, uncachedGets } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { measureCommand, startService } from './kit/service.ts';
import { searchDataset, smallUsers } from './s6-search.ts';

const withinMs = 300;
const idleMegabytes = 100;
const loadedMegabytes = 350;
/** The permitted growth, as a ratio. A smaller ratio is normal heap fluctuation. */
const growthLimit = 1.1;
const settleMs = 1_000;
const sampleEveryMs = 250;

/** How long the service takes to start, and the resident memory of its process. */
export const startUp: Benchmark = {
  ids: ['S8'],
  title: 'Start and memory',
  async run(context) {
    const started = await measureStart(context);
    const memory = { idle: started.idle, loaded: await sampleUnderLoad(context) };
    return {
      goals: goalsOf(started, memory, context),
      tables: [startTable(started), memoryTable(memory, context)],
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
  const [path = ''] = firstPages(size, 1);
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
    bun: async () => (await measureCommand([process.execPath, '-e', '0'], folder)).ms,
  });
  return { idle, ...times };
}

function startTable({ service, bun }: Started) {
  const row = (name: string, ms: number[]) => [
    name,
    short(median(ms)),
    showRatio(ratioOf(ms, bun)),
  ];
  const what = 'Time from `memory serve` to the response to the first list request';
  return {
    title: `${what}, with the files in the page cache`,
    head: ['', 'ms', 'relative to `bun -e 0`'],
    rows: [row('the service', service), row('`bun -e 0`', bun)],
  };
}

/** Resident memory in bytes: idle, and samples under load. */
type Memory = { idle: number; loaded: number[] };

async function sampleUnderLoad(context: Context): Promise<number[]> {
  const { copyOf, folder, quick, memorySeconds: seconds, current: tree } = context;
  const database = await copyOf(tree, searchDataset(quick));
  const { url, pid } = await startService(folder, { tree, database });
  const users = smallUsers(quick);
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(memoryBytes(pid)), sampleEveryMs);
  await Promise.all([
    load({ url, connections: 16, seconds, next: saves() }),
    load({ url, connections: 4, seconds, next: uncachedGets(users.map(firstPage)) }),
    load({ url, connections: 2, seconds, next: gets(users.flatMap(searches)) }),
  ]);
  clearInterval(timer);
  return samples;
}

function goalsOf({ service }: Started, { idle, loaded }: Memory, context: Context): Goal[] {
  const { size, memorySeconds } = context;
  const megabytes = (bytes: number) => spreadOf([bytes / 1_000_000]);
  const all = `${showCount(size)} memories`;
  const load = `resident memory, ${memorySeconds} s under load`;
  const [ms, unit] = [{ unit: ' ms' }, { unit: ' MB' }];
  const [highest, growth] = [megabytes(Math.max(...loaded)), spreadOf([growthOf(loaded)])];
  return [
    atMost('S8', `start to first response, ${all}`, spreadOf(service), withinMs, ms),
    atMost('S8', `idle resident memory, ${all}`, megabytes(idle), idleMegabytes, unit),
    atMost('S8', `${load}: highest sample`, highest, loadedMegabytes, unit),
    atMost('S8', `${load}: last third / middle third`, growth, growthLimit),
  ];
}

function memoryTable({ idle, loaded }: Memory, { memorySeconds }: Context) {
  const after = [1 / 3, 2 / 3, 1].map((share) => loaded[Math.ceil(loaded.length * share) - 1] ?? 0);
  return {
    title: `Resident memory, ${memorySeconds} s under load`,
    head: ['', 'idle', 'after a third', 'after two thirds', 'at the end', 'highest'],
    rows: [['the service', ...[idle, ...after, Math.max(...loaded)].map(showBytes)]],
  };
}
