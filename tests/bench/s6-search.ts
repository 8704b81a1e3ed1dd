import type { Benchmark } from './kit/benchmark.ts';
import { atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import { median, ratioOf, short, showCount } from './kit/numbers.ts';
import { searches } from './kit/paths.ts';
import { serviceEnv, startSubject } from './kit/process.ts';
import { gets } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';

const most = 1.5;

/** Searches of one user's 1,000 memories, among few memories of others and among many. */
export const search: Benchmark = {
  ids: ['S6'],
  title: 'Search as others’ memories grow',
  async run({ folder, database, rounds, seconds, sizes, size }) {
    const [smallest = 0] = sizes;
    const open = async (count: number) =>
      startSubject('service', folder, {
        databaseUrl: `sqlite:${await database(count)}`,
        env: serviceEnv,
      });
    const small = await open(smallest);
    const large = await open(size);
    const turn = (url: string) => async () => {
      const next = gets(searches());
      const { p50Ms } = await load({ url, connections: 1, seconds, next });
      return p50Ms;
    };
    const measured = await inTurn(rounds, { large: turn(large.url), small: turn(small.url) });
    await small.stop();
    await large.stop();
    const ratio = ratioOf(measured.large, measured.small);
    const measure = `search of 1,000 memories, among ${showCount(size)} / among ${showCount(smallest)}`;
    const rows = [
      [showCount(smallest), short(median(measured.small))],
      [showCount(size), short(median(measured.large))],
    ];
    return {
      goals: [atMost('S6', measure, ratio, most)],
      tables: [
        { title: 'Median time of one search, one connection', head: ['memories', 'ms'], rows },
      ],
    };
  },
};
