import { availableParallelism } from 'node:os';
import { $ } from 'bun';
import type { Benchmark, Context, Section } from './kit/benchmark.ts';
import { atLeast } from './kit/goals.ts';
import { loadOf, type MeasuredLoad } from './kit/measured-load.ts';
import { median, type Ratio, short, showRatio, spreadOf } from './kit/numbers.ts';
import { firstPage, searches } from './kit/paths.ts';
import type { Subject } from './kit/process.ts';
import { gets, type NextRequest, saves, uncachedGets } from './kit/requests.ts';
import { inTurn, measureEach } from './kit/rounds.ts';
import { startService } from './kit/service.ts';
import { searchDataset, smallUsers } from './s6-search.ts';

/*
 * Measures the gain from a second core. The server is pinned to one core or to two. On a machine
 * with more than two cores, the generator runs on the other cores. On a machine with two cores, the
 * generator runs on the second core while the server is pinned to the first. While the server has
 * both cores, the generator shares them. The CPU time that the generator used is therefore excluded
 * from the gain:
 *
 *   gain per core = 1 + (rate on two / rate on one - 1) / (1 - cores that the generator used)
 */

const spareCores = availableParallelism() - 2;
const oneCore = '0';
const twoCores = '0,1';
const generatorCores = {
  one: spareCores > 0 ? `2-${spareCores + 1}` : '1',
  two: spareCores > 0 ? `2-${spareCores + 1}` : twoCores,
};

const kinds = {
  saves: { name: 'saves, 64 connections', connections: 64, goal: 1.15 },
  lists: { name: 'lists, 64 connections', connections: 64, goal: null },
  searches: { name: 'searches, 8 connections', connections: 8, goal: 1.5 },
};
type Kind = keyof typeof kinds;
const allKinds = Object.keys(kinds) as Kind[];

type Pinned = MeasuredLoad & {
  /** The cores that the server used on average. */
  serverCores: number;
  generatorCores: number;
};

type Name = 'one' | 'two';
type Figures = Record<Name, Pinned[]>;

/** Saves, lists and searches, with the server pinned to one core and to two cores. */
export const cores: Benchmark = {
  ids: ['S12'],
  title: 'The second core',
  async run(context) {
    const why = whyNot();
    if (why !== null) {
      context.say(`  SKIPPED: ${why}`);
      return { goals: [], tables: [], notes: [`S12 was not measured: ${why}.`] };
    }
    const started = { one: await start(context, oneCore), two: await start(context, twoCores) };
    const measured = {} as Record<Kind, Figures>;
    try {
      for (const kind of allKinds) measured[kind] = await measure(context, started, kind);
    } finally {
      await pinGenerator(`0-${spareCores + 1}`);
    }
    return section(measured);
  },
};

function whyNot(): string | null {
  if (Bun.which('taskset') === null) return 'taskset is not installed';
  return spareCores < 0 ? 'the machine has one core' : null;
}

async function start(context: Context, cores: string): Promise<Subject> {
  const { folder, copyOf, current: tree, quick } = context;
  const database = await copyOf(tree, searchDataset(quick));
  return startService(folder, { tree, database, cores });
}

function measure(
  { rounds, seconds, quick }: Context,
  started: Record<Name, Subject>,
  kind: Kind,
): Promise<Figures> {
  const users = smallUsers(quick);
  const requests: Record<Kind, () => NextRequest> = {
    saves,
    lists: () => uncachedGets(users.map(firstPage)),
    searches: () => gets(users.flatMap(searches)),
  };
  const measurements = measureEach(started, (subject, name) => {
    const options = { connections: kinds[kind].connections, seconds, next: requests[kind]() };
    return () => pinnedLoad(subject, name, options);
  });
  return inTurn(rounds, measurements);
}

/** Pins all threads of this process, which runs the generator. */
async function pinGenerator(cores: string): Promise<void> {
  await $`taskset -apc ${cores} ${process.pid}`.quiet();
}

async function pinnedLoad(
  subject: Subject,
  name: Name,
  options: Parameters<typeof loadOf>[1],
): Promise<Pinned> {
  await pinGenerator(generatorCores[name]);
  const before = process.cpuUsage();
  const begun = performance.now();
  const measured = await loadOf(subject, options);
  const elapsedMicros = (performance.now() - begun) * 1_000;
  const { user, system } = process.cpuUsage(before);
  return {
    ...measured,
    serverCores: (measured.cpuMicros * measured.requests) / elapsedMicros,
    generatorCores: (user + system) / elapsedMicros,
  };
}

function gains({ one, two }: Figures): number[] {
  return two.map(({ perSecond }, at) => perSecond / (one[at]?.perSecond ?? Number.NaN));
}

/** Returns the gains scaled to a whole second core. */
function scaledGains(figures: Figures): Ratio {
  const scaled = gains(figures).map((gain, at) => {
    const taken = spareCores > 0 ? 0 : (figures.two[at]?.generatorCores ?? Number.NaN);
    return gain <= 1 ? gain : Math.min(2, 1 + (gain - 1) / (1 - taken));
  });
  return spreadOf(scaled);
}

const middle = (name: Name, pick: (pinned: Pinned) => number) => (figures: Figures) =>
  short(median(figures[name].map(pick)));

const columns: [head: string, cell: (figures: Figures) => string][] = [
  ['per second, one core', middle('one', ({ perSecond }) => perSecond)],
  ['two cores', middle('two', ({ perSecond }) => perSecond)],
  ['two / one', (figures) => showRatio(spreadOf(gains(figures)))],
  ['per whole core', (figures) => showRatio(scaledGains(figures))],
  ['cores used, one core', middle('one', ({ serverCores }) => serverCores)],
  ['two cores', middle('two', ({ serverCores }) => serverCores)],
  ['generator, two cores', middle('two', ({ generatorCores }) => generatorCores)],
  ['CPU µs, one core', middle('one', ({ cpuMicros }) => cpuMicros)],
  ['two cores', middle('two', ({ cpuMicros }) => cpuMicros)],
  ['thread limit', middle('two', (two) => two.cpuMicros / two.busiestThreadMicros)],
];

function section(measured: Record<Kind, Figures>): Section {
  const title = 'Rates of the server pinned to one core and to two cores';
  const head = ['', ...columns.map(([name]) => name)];
  const rows = allKinds.map((kind) => [
    `${kinds[kind].name}, the service`,
    ...columns.map(([, cell]) => cell(measured[kind])),
  ]);
  return {
    goals: allKinds.flatMap((kind) => {
      const { name, goal } = kinds[kind];
      const measure = `${name}: rate on two cores relative to one, per whole second core`;
      const figure = scaledGains(measured[kind]);
      return goal === null ? [] : [atLeast('S12', measure, figure, goal, { unit: ' ×' })];
    }),
    tables: [{ title, head, rows }],
    notes: [
      spareCores > 0
        ? 'The generator ran on separate cores.'
        : 'The generator and the server share two cores. If the server is pinned to one core, the ' +
          'generator runs on the other. If the server uses both, the generator takes part of the ' +
          'second core (“generator, two cores”). “Per whole core” estimates the ratio for a server ' +
          'that has both cores to itself.',
      'A server on one core is limited by its CPU only if it uses all of that core; saves also ' +
        'wait for the disk. The thread limit is the CPU time of all threads divided by that of the ' +
        'busiest thread. More cores cannot increase the rate beyond this factor.',
    ],
  };
}
