import type { Benchmark, Context, Section } from './kit/benchmark.ts';
import { fetchText } from './kit/client.ts';
import { type SearchGroup, searchDatasetOf, searchUsers } from './kit/dataset.ts';
import { atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import { median, short, showRatio, spreadOf } from './kit/numbers.ts';
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

/** `again`: the user's index is in memory. `first`: the user's first search. */
const kinds = {
  again: { row: 'searched before', goal: 'searched before' },
  first: { row: 'first search', goal: 'first time' },
};
type Kind = keyof typeof kinds;

/** The goals in ms. */
const goals: { memories: number; kind: Kind; most: number }[] = [
  { memories: 1_000, kind: 'again', most: 0.5 },
  { memories: 1_000, kind: 'first', most: 2 },
  { memories: 10_000, kind: 'again', most: 1 },
  { memories: 10_000, kind: 'first', most: 10 },
  { memories: 50_000, kind: 'again', most: 3 },
  { memories: 50_000, kind: 'first', most: 40 },
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

/** The median times of one round in ms, by the number of the user's memories. */
type Searched = Record<Kind, Map<number, number>>;

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
      searched.first.set(group.memories, median(await firstSearches(url, users, round)));
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

function section(measured: Record<'service' | 'baseline', Searched[]>, isQuick: boolean): Section {
  const figures = goals.map(({ memories, kind, most }) => {
    const spread = (all: Searched[]) =>
      spreadOf(all.map((searched) => searched[kind].get(memories) ?? Number.NaN));
    const [figure, baseline] = [spread(measured.service), spread(measured.baseline)];
    const user = `${short(memories)} memories`;
    const measure = `search, one client, user with ${user}, ${kinds[kind].goal}: p50`;
    return {
      goal: atMost('S6', measure, figure, most, { unit: ' ms', baseline }),
      row: [`${user}, ${kinds[kind].row}`, showRatio(figure), showRatio(baseline)],
    };
  });
  const counts = searchGroups(isQuick).map(
    ({ users, memories }) => `${users} users with ${short(memories)} memories each`,
  );
  const rows = figures.map(({ row }) => row);
  const head = ['', 'the service', 'the baseline'];
  return {
    goals: figures.map(({ goal }) => goal),
    tables: [{ title: 'Median time of one search in ms', head, rows }],
    notes: [
      'A first search is a user’s first search after a restart, with the user’s stored index. The ' +
        `process is warmed up with ${warmUpSearches} searches for another user, and the file is in ` +
        `the page cache. There were ${new Intl.ListFormat('en').format(counts)}.`,
    ],
  };
}
