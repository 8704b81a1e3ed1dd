import type { Benchmark, Context } from './kit/benchmark.ts';
import { searcher, tableOf, usersWith } from './kit/dataset.ts';
import { atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import { median, ratioOf, short, showCount } from './kit/numbers.ts';
import { searches } from './kit/paths.ts';
import type { Subject } from './kit/process.ts';
import { gets } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { startOn } from './kit/service.ts';

const most = 1.3;
/** Users with about as many memories as `searcher`. */
const similar = { least: 900, most: 1_100, limit: 20 };

type Name = 'small' | 'large' | 'scattered';

/** Searches of one user's 1,000 memories, in a small table and in a large one. */
export const searchGrowth: Benchmark = {
  ids: ['S6c'],
  title: 'Search as other users’ memories grow',
  async run(context) {
    const { rounds, sizes, size, current } = context;
    const [smallest = 0] = sizes;
    const small = await startOn(context, current, tableOf(smallest));
    const large = await startOn(context, current, tableOf(size));
    const measured = await inTurn(rounds, {
      large: measurementOf(context, large, [searcher.userId]),
      scattered: measurementOf(context, large, usersWith(size, similar)),
      small: measurementOf(context, small, [searcher.userId]),
    });
    return section(measured, smallest, size);
  },
};

function measurementOf({ seconds }: Context, { url }: Subject, users: string[]) {
  const next = gets(users.flatMap(searches));
  return async () => (await load({ url, connections: 1, seconds, next })).p50Ms;
}

function section(measured: Record<Name, number[]>, smallest: number, size: number) {
  const { small, large, scattered } = measured;
  const times = `time with ${showCount(size)} / with ${showCount(smallest)} memories`;
  const row = (name: string, ms: number[]) => [name, short(median(ms))];
  return {
    goals: [
      atMost('S6c', `search of 1,000 memories: ${times}`, ratioOf(large, small), most),
      atMost(
        'S6c',
        `search of about 1,000 memories, scattered over the table: ${times}`,
        ratioOf(scattered, small),
        most,
      ),
    ],
    tables: [
      {
        title: 'Median time of one search of 1,000 memories in ms, one connection',
        head: ['memories in the table', 'the service'],
        rows: [
          row(showCount(smallest), small),
          row(showCount(size), large),
          row(`${showCount(size)}, the 1,000 scattered`, scattered),
        ],
      },
    ],
  };
}
