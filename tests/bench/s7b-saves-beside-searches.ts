import { statSync } from 'node:fs';
import type { Benchmark, Context, Goal, Section } from './kit/benchmark.ts';
import { type SearchGroup, searchDatasetOf, searchUsers } from './kit/dataset.ts';
import { atMost } from './kit/goals.ts';
import { load, openLoop } from './kit/load.ts';
import { median, quantile, ratioOf, short, showCount, showRatio, spreadOf } from './kit/numbers.ts';
import { searches } from './kit/paths.ts';
import { stopAll } from './kit/process.ts';
import { gets, saves } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { startService } from './kit/service.ts';
import type { Tree } from './kit/trees.ts';

const savesPerSecond = 800;
const searchers = 4;
/** The users whose memories are searched, in two separate runs. */
const groups: SearchGroup[] = [
  { memories: 1_000, users: searchers },
  { memories: 10_000, users: searchers },
];
const mostOfBaseline = 1.3;
const mostLogMegabytes = 64;
/** Long enough for the log to be restarted several times. */
const leastSeconds = { quick: 3, full: 12 };
const lookEveryMs = 50;

const names = { service: 'the service', baseline: 'the baseline' };
type Name = keyof typeof names;

type Round = { saveMs: number[]; searchesPerSecond: number; searchP99Ms: number; logBytes: number };
type Figures = Record<Name, Round[]>;

/** Saves at a fixed rate, while other connections search without a pause. */
export const savesBesideSearches: Benchmark = {
  ids: ['S7b'],
  title: 'Saves beside constant searches',
  async run(context) {
    const measured: [SearchGroup, Figures][] = [];
    for (const group of groups) measured.push([group, await measure(context, group)]);
    return section(measured);
  },
};

async function measure(context: Context, group: SearchGroup): Promise<Figures> {
  const { rounds, current, baseline } = context;
  const measured = await inTurn(rounds, {
    service: await startTarget(context, current, group),
    baseline: await startTarget(context, baseline, group),
  });
  await stopAll();
  return measured;
}

/** Starts a service. Returns what measures it for one round. */
async function startTarget(context: Context, tree: Tree, group: SearchGroup) {
  const { folder, copyOf, quick } = context;
  const database = await copyOf(tree, searchDatasetOf([group]));
  const { url } = await startService(folder, { tree, database });
  const seconds = Math.max(leastSeconds[quick ? 'quick' : 'full'], context.seconds);
  const nextSearch = gets(searchUsers(group).flatMap(searches));
  const nextSave = saves();
  return async (): Promise<Round> => {
    const log = watchSize(`${database}-wal`);
    const [saved, searched] = await Promise.all([
      openLoop({ url, perSecond: savesPerSecond, during: seconds * 1_000, next: nextSave }),
      load({ url, connections: searchers, seconds, next: nextSearch }),
    ]);
    return {
      saveMs: saved.map(({ ms }) => ms),
      searchesPerSecond: searched.perSecond,
      searchP99Ms: searched.p99Ms,
      logBytes: log.stop(),
    };
  };
}

/** Samples the size of a file. `stop` returns the largest size. */
function watchSize(path: string): { stop(): number } {
  let largest = 0;
  const look = () => {
    largest = Math.max(largest, statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  };
  const timer = setInterval(look, lookEveryMs);
  return {
    stop() {
      clearInterval(timer);
      look();
      return largest;
    },
  };
}

function section(measured: [SearchGroup, Figures][]): Section {
  return {
    goals: measured.flatMap(([group, figures]) => goalsOf(group, figures)),
    tables: measured.map(([{ memories }, figures]) => ({
      title:
        `${savesPerSecond} saves per second while ${searchers} connections search the memories ` +
        `of users with ${showCount(memories)} each`,
      head: ['', 'p50 ms', 'p99 ms', 'worst ms', 'log, MB', 'searches/s', 'their p99 ms'],
      rows: (Object.keys(figures) as Name[]).map((name) => rowOf(name, figures[name])),
    })),
    notes: [
      'The searchers send the next search as soon as they have a response. The load generator and ' +
        'the server share the machine.',
    ],
  };
}

function goalsOf({ memories }: SearchGroup, { service, baseline }: Figures): Goal[] {
  const beside = `${savesPerSecond} saves per second beside searches of ${showCount(memories)} memories`;
  const ratio = ratioOf(saveMs(service, 0.99), saveMs(baseline, 0.99));
  const ofLog = { unit: ' MB', baseline: logMegabytes(baseline) };
  const [p99, log] = [': p99 relative to the baseline’s', ': size of the write-ahead log'];
  return [
    atMost('S7b', beside + p99, ratio, mostOfBaseline, { unit: ' ×' }),
    atMost('S7b', beside + log, logMegabytes(service), mostLogMegabytes, ofLog),
  ];
}

function rowOf(name: Name, rounds: Round[]): string[] {
  return [
    names[name],
    ...[0.5, 0.99, 1].map((share) => showRatio(spreadOf(saveMs(rounds, share)))),
    showRatio(logMegabytes(rounds)),
    short(median(rounds.map(({ searchesPerSecond }) => searchesPerSecond))),
    short(median(rounds.map(({ searchP99Ms }) => searchP99Ms))),
  ];
}

function saveMs(rounds: Round[], share: number): number[] {
  return rounds.map((round) => quantile(round.saveMs, share));
}

function logMegabytes(rounds: Round[]) {
  return spreadOf(rounds.map(({ logBytes }) => logBytes / 1_048_576));
}
