import { availableParallelism } from 'node:os';
import { $ } from 'bun';
import type { Benchmark, Context, Goal, Section } from './kit/benchmark.ts';
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
    const started = await startAll(context);
    const measured = {} as Record<Kind, Figures>;
    try {
      for (const kind of allKinds) measured[kind] = await measure(context, started, kind);
    } finally {
      await pinGenerator(`0-${spareCores + 1}`);
    }
    for (const subject of Object.values(started)) await subject.stop();
    return section(measured);
  },
};

function whyNot(): string | null {
  if (Bun.which('taskset') === null) return 'taskset is not installed';
  return spareCores < 0 ? 'the machine has one core' : null;
}

async function startAll(context: Context): Promise<Record<Name, Subject>> {
  const { folder, copyOf, current: tree, quick } = context;
  const start = async (cores: string) => {
    const database = await copyOf(tree, searchDataset(quick));
    return startService(folder, { tree, database, cores });
  };
  return { one: await start(oneCore), two: await start(twoCores) };
}

async function measure(
  context: Context,
  started: Record<Name, Subject>,
  kind: Kind,
): Promise<Figures> {
  const { rounds, seconds, quick } = context;
  const { connections } = kinds[kind];
  const users = smallUsers(quick);
  const requests: Record<Kind, () => NextRequest> = {
    saves,
    lists: () => uncachedGets(users.map(firstPage)),
    searches: () => gets(users.flatMap(searches)),
  };
  const measurements = measureEach(started, (subject, name) => {
    const next = requests[kind]();
    return async () => {
      await pinGenerator(generatorCores[name]);
      return pinnedLoad(subject, { connections, seconds, next });
    };
  });
  return inTurn(rounds, measurements);
}

/** Pins all threads of this process, which runs the generator. */
async function pinGenerator(cores: string): Promise<void> {
  await $`taskset -apc ${cores} ${process.pid}`.quiet();
}

async function pinnedLoad(
  subject: Subject,
  options: { connections: number; seconds: number; next: NextRequest },
): Promise<Pinned> {
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

/** Returns the gain scaled to a whole second core, and the gain as measured. */
function gains({ one, two }: Figures): { scaled: Ratio; measured: Ratio } {
  const measured = two.map(({ perSecond }, at) => perSecond / (one[at]?.perSecond ?? Number.NaN));
  const scaled = measured.map((gain, at) => {
    const taken = spareCores > 0 ? 0 : (two[at]?.generatorCores ?? Number.NaN);
    return gain <= 1 ? gain : Math.min(2, 1 + (gain - 1) / (1 - taken));
  });
  return { scaled: spreadOf(scaled), measured: spreadOf(measured) };
}

function section(measured: Record<Kind, Figures>): Section {
  return {
    goals: allKinds.flatMap((kind) => goalOf(kind, measured[kind])),
    tables: [
      {
        title: 'Rates of the server pinned to one core and to two cores',
        head: [
          '',
          'per second, one core',
          'two cores',
          'two / one',
          'per whole core',
          'cores used, one core',
          'two cores',
          'generator, two cores',
          'CPU µs, one core',
          'two cores',
          'thread limit',
        ],
        rows: allKinds.map((kind) => rowOf(kind, measured[kind])),
      },
    ],
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

function goalOf(kind: Kind, figures: Figures): Goal[] {
  const { name, goal } = kinds[kind];
  if (goal === null) return [];
  const measure = `${name}: rate on two cores relative to one, per whole second core`;
  return [atLeast('S12', measure, gains(figures).scaled, goal, { unit: ' ×' })];
}

function rowOf(kind: Kind, figures: Figures): string[] {
  const { one, two } = figures;
  const { scaled, measured } = gains(figures);
  const middle = (all: Pinned[], pick: (pinned: Pinned) => number) => short(median(all.map(pick)));
  return [
    `${kinds[kind].name}, the service`,
    middle(one, ({ perSecond }) => perSecond),
    middle(two, ({ perSecond }) => perSecond),
    showRatio(measured),
    showRatio(scaled),
    middle(one, ({ serverCores }) => serverCores),
    middle(two, ({ serverCores }) => serverCores),
    middle(two, ({ generatorCores }) => generatorCores),
    middle(one, ({ cpuMicros }) => cpuMicros),
    middle(two, ({ cpuMicros }) => cpuMicros),
    middle(two, ({ cpuMicros, busiestThreadMicros }) => cpuMicros / busiestThreadMicros),
  ];
}
