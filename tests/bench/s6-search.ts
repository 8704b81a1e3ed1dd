import type { Benchmark, Context, Goal, Section } from './kit/benchmark.ts';
import { fetchText } from './kit/client.ts';
import { type SearchGroup, searchDatasetOf, searchUsers } from './kit/dataset.ts';
import { atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import { median, type Ratio, short, showRatio, spreadOf } from './kit/numbers.ts';
import { searches, searchOf } from './kit/paths.ts';
import { gets } from './kit/requests.ts';
import { inTurn, timed } from './kit/rounds.ts';
import { startService } from './kit/service.ts';
import type { Tree } from './kit/trees.ts';

/** Several users of each size give several first searches per start. */
const full: SearchGroup[] = [
  { memories: 1_000, users: 20 },
  { memories: 10_000, users: 6 },
  { memories: 50_000, users: 2 },
];
const quick: SearchGroup[] = [
  { memories: 1_000, users: 10 },
  { memories: 10_000, users: 3 },
  { memories: 50_000, users: 1 },
];

/** The goals in ms: `again` if the user's index is in memory, `first` for a user's first search. */
const goals = [
  { memories: 1_000, again: 0.5, first: 2 },
  { memories: 10_000, again: 1, first: 10 },
  { memories: 50_000, again: 3, first: 40 },
];

/** The number of warm-up searches, which compile the code before the measured first searches. */
const warmUpSearches = 60;

/** Returns the users that all search benchmarks use. */
function searchGroups(isQuick: boolean): SearchGroup[] {
  return isQuick ? quick : full;
}

export function searchDataset(isQuick: boolean) {
  return searchDatasetOf(searchGroups(isQuick));
}

/** Returns the users who have 1,000 memories each. */
export function smallUsers(isQuick: boolean): string[] {
  return searchUsers(searchGroups(isQuick)[0] ?? { memories: 0, users: 0 });
}

/** The times of one round in ms, by size, for a repeated search and each user's first search. */
type Searched = { again: Map<number, number>; first: Map<number, number[]> };

/** Searches by one client, for users of three sizes. */
export const search: Benchmark = {
  ids: ['S6'],
  title: 'Search',
  async run(context) {
    const { rounds, current, baseline, quick } = context;
    const measured = await inTurn(rounds, {
      service: await measurementOf(context, current),
      baseline: await measurementOf(context, baseline),
    });
    return section(measured, quick);
  },
};

/** Restarts the service for every round, so that no user's index is in memory. */
async function measurementOf(context: Context, tree: Tree): Promise<() => Promise<Searched>> {
  const { folder, quick, database, seconds } = context;
  const groups = searchGroups(quick);
  const path = await database(tree, searchDataset(quick));
  let round = 0;
  return async () => {
    round += 1;
    const service = await startService(folder, { tree, database: path });
    const { url } = service;
    const [warm = '', ...others] = smallUsers(quick);
    for (let at = 0; at < warmUpSearches; at += 1) await fetchText(url, searchOf(warm, at));
    const searched: Searched = { again: new Map(), first: new Map() };
    for (const group of groups) {
      const users = group === groups[0] ? others : searchUsers(group);
      searched.first.set(group.memories, await firstSearches(url, users, round));
      const [known = ''] = users;
      const next = gets(searches(known));
      const { p50Ms } = await load({ url, connections: 1, seconds: seconds / 2, next });
      searched.again.set(group.memories, p50Ms);
    }
    await service.stop();
    return searched;
  };
}

/** Measures each user's first search, with a different question in each round. */
async function firstSearches(url: string, users: string[], round: number): Promise<number[]> {
  const times: number[] = [];
  for (const [at, user] of users.entries()) {
    times.push(await timed(() => fetchText(url, searchOf(user, at + round))));
  }
  return times;
}

type Measured = Record<'service' | 'baseline', Searched[]>;

function section(measured: Measured, isQuick: boolean): Section {
  const rows = goals.flatMap(({ memories }) => [
    rowOf(`${short(memories)} memories, searched before`, measured, again(memories)),
    rowOf(`${short(memories)} memories, first search`, measured, first(memories)),
  ]);
  const counts = searchGroups(isQuick).map(
    ({ users, memories }) => `${users} users with ${short(memories)} memories each`,
  );
  return {
    goals: goals.flatMap((goal) => goalsOf(goal, measured)),
    tables: [
      {
        title: 'Median time of one search in ms',
        head: ['', 'the service', 'the baseline'],
        rows,
      },
    ],
    notes: [
      'A first search is a user’s first search after a restart, with the user’s stored index. The ' +
        `process is warmed up with ${warmUpSearches} searches for another user, and the file is in ` +
        `the page cache. There were ${new Intl.ListFormat('en').format(counts)}.`,
    ],
  };
}

function goalsOf(goal: (typeof goals)[number], measured: Measured): Goal[] {
  const search = `search, one client, user with ${short(goal.memories)} memories`;
  const of = (name: string, pick: Pick, limit: number) => {
    const [figure, baseline] = spreads(measured, pick);
    return atMost('S6', `${search}, ${name}: p50`, figure, limit, { unit: ' ms', baseline });
  };
  return [
    of('searched before', again(goal.memories), goal.again),
    of('first time', first(goal.memories), goal.first),
  ];
}

type Pick = (searched: Searched) => number;

const again =
  (memories: number): Pick =>
  ({ again }) =>
    again.get(memories) ?? Number.NaN;

const first =
  (memories: number): Pick =>
  ({ first }) =>
    median(first.get(memories) ?? []);

function rowOf(name: string, measured: Measured, pick: Pick): string[] {
  return [name, ...spreads(measured, pick).map(showRatio)];
}

function spreads({ service, baseline }: Measured, pick: Pick): [Ratio, Ratio] {
  return [spreadOf(service.map(pick)), spreadOf(baseline.map(pick))];
}
