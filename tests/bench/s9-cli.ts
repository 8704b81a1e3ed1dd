import type { Benchmark } from './kit/benchmark.ts';
import { cliEnv, memoryCommand, timeCommand } from './kit/cli.ts';
import { atMost } from './kit/goals.ts';
import { median, ratioOf, short } from './kit/numbers.ts';
import { serviceEnv, startSubject } from './kit/process.ts';
import { inTurn } from './kit/rounds.ts';
import { searcher } from './kit/rows.ts';

const most = 2.5;
const perRound = 5;

/** A command beside the least that starting its interpreter takes. */
export const commandLine: Benchmark = {
  ids: ['S9'],
  title: 'The command line',
  async run({ folder, database, rounds, sizes }) {
    const databaseUrl = `sqlite:${await database(sizes[0] ?? 0)}`;
    const service = await startSubject('service', folder, { databaseUrl, env: serviceEnv });
    const env = cliEnv(folder);
    const args = ['list', '--user', searcher.userId, '--base-url', service.url];
    const turn = (command: string[]) => async () => {
      const times: number[] = [];
      for (let run = 0; run < perRound; run += 1) times.push(await timeCommand(command, env));
      return median(times);
    };
    const measured = await inTurn(rounds, {
      list: turn(memoryCommand(...args)),
      bun: turn([process.execPath, '-e', '0']),
    });
    await service.stop();
    const ratio = ratioOf(measured.list, measured.bun);
    const rows = [
      ['`memory list`', short(median(measured.list))],
      ['`bun -e 0`', short(median(measured.bun))],
    ];
    return {
      goals: [atMost('S9', '`memory list`, of `bun -e 0`', ratio, most)],
      tables: [{ title: 'From start to exit, without npx', head: ['command', 'ms'], rows }],
    };
  },
};
