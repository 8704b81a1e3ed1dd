import { Database } from 'bun:sqlite';
import type { Benchmark } from './kit/benchmark.ts';
import { atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import { median, ratioOf, short, showCount } from './kit/numbers.ts';
import { searches } from './kit/paths.ts';
import { serviceEnv, startSubject } from './kit/process.ts';
import { gets } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { searcher } from './kit/rows.ts';

const most = 1.5;
/** About as many memories as `searcher` has, and as many users as are found who do. */
const alike = { least: 900, most: 1_100, users: 20 };

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
    const scattered = scatteredUsers(await database(size));
    const small = await open(smallest);
    const large = await open(size);
    const turn = (url: string, users: string[]) => async () => {
      const next = gets(users.flatMap(searches));
      const { p50Ms } = await load({ url, connections: 1, seconds, next });
      return p50Ms;
    };
    const measured = await inTurn(rounds, {
      large: turn(large.url, [searcher.userId]),
      scattered: turn(large.url, scattered),
      small: turn(small.url, [searcher.userId]),
    });
    await small.stop();
    await large.stop();
    const among = `among ${showCount(size)} / among ${showCount(smallest)}`;
    const measure = `search of 1,000 memories, ${among}`;
    const all = `the same, of users whose memories lie all over the table`;
    const row = (name: string, ms: number[]) => [name, short(median(ms))];
    return {
      goals: [
        atMost('S6', measure, ratioOf(measured.large, measured.small), most),
        atMost('S6', all, ratioOf(measured.scattered, measured.small), most),
      ],
      tables: [
        {
          title: 'Median time of one search, one connection',
          head: ['memories', 'ms'],
          rows: [
            row(showCount(smallest), measured.small),
            row(showCount(size), measured.large),
            row(`${showCount(size)}, 1,000 all over the table`, measured.scattered),
          ],
        },
      ],
    };
  },
};

/** `searcher` owns memories among the first 10,000 alone; those of other users lie between all. */
function scatteredUsers(path: string): string[] {
  const db = new Database(path);
  const found = db
    .prepare<{ userId: string }, (number | string)[]>(
      `SELECT user_id AS userId FROM memories WHERE user_id <> ? GROUP BY user_id
       HAVING count(*) BETWEEN ? AND ? LIMIT ?`,
    )
    .all(searcher.userId, alike.least, alike.most, alike.users);
  db.close();
  return found.map(({ userId }) => userId);
}
