import type { Benchmark } from './kit/benchmark.ts';
import { cliEnv, everyForm, measureCommand, type Took } from './kit/cli.ts';
import { atMost } from './kit/goals.ts';
import { median, ratioOf, short, showRatio } from './kit/numbers.ts';
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
    const forms = await everyForm(folder);
    const service = await startSubject('service', folder, { databaseUrl, env: serviceEnv });
    const args = ['list', '--user', searcher.userId, '--base-url', service.url];
    const turn = (command: string[]) => () => middleOf(command, cliEnv(folder));
    const measured = await inTurn(rounds, {
      bun: turn([process.execPath, '-e', '0']),
      executable: turn([...forms.executable, ...args]),
      installed: turn([...forms.installed, ...args]),
      byNode: turn([...forms.byNode, ...args]),
      clone: turn([...forms.clone, ...args]),
    });
    await service.stop();
    const row = (name: string, form: keyof typeof measured) => rowOf(name, measured, form);
    return {
      goals: [
        atMost(
          'S9',
          '`memory list` of the executable, of `bun -e 0`',
          ratioOf(wall(measured.executable), wall(measured.bun)),
          most,
        ),
      ],
      tables: [
        {
          title: 'From start to exit: `memory list`, a page of 20',
          head: ['', 'ms', 'of `bun -e 0`', 'processor, of `bun -e 0`'],
          rows: [
            row('the executable', 'executable'),
            row('installed by npm', 'installed'),
            row('the same without install scripts, so by way of Node', 'byNode'),
            row('in a clone, from the sources, without npx', 'clone'),
            row('`bun -e 0`', 'bun'),
          ],
        },
      ],
    };
  },
};

async function middleOf(command: string[], env: Record<string, string>): Promise<Took> {
  const runs: Took[] = [];
  for (let run = 0; run < perRound; run += 1) runs.push(await measureCommand(command, env));
  return { ms: median(wall(runs)), processorMs: median(processor(runs)) };
}

function rowOf(name: string, measured: Record<string, Took[]>, form: string): string[] {
  const { [form]: own = [], bun = [] } = measured;
  return [
    name,
    short(median(wall(own))),
    showRatio(ratioOf(wall(own), wall(bun))),
    showRatio(ratioOf(processor(own), processor(bun))),
  ];
}

function wall(runs: Took[]): number[] {
  return runs.map(({ ms }) => ms);
}

function processor(runs: Took[]): number[] {
  return runs.map(({ processorMs }) => processorMs);
}
