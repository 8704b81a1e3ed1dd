import { join } from 'node:path';
import { buildExecutable, hostTarget } from '../../.release/executables.ts';
import { installService, runInstallScript } from '../package/install.ts';
import type { Benchmark, Context } from './kit/benchmark.ts';
import { searcher, tableOf } from './kit/dataset.ts';
import { atMost } from './kit/goals.ts';
import { median, ratioOf, short, showRatio } from './kit/numbers.ts';
import { inTurn } from './kit/rounds.ts';
import { type CommandTime, measureCommand, memoryCommand, startOn } from './kit/service.ts';

const most = 2.5;
const perRound = 5;

const names = {
  executable: 'the executable',
  installed: 'installed by npm',
  byNode: 'installed by npm without install scripts, started by Node',
  clone: 'in a clone, from the sources, without npx',
  bun: '`bun -e 0`',
};
type Form = keyof typeof names;
type Figures = Partial<Record<Form, CommandTime[]>>;

/** The run time of a command, compared with `bun -e 0`. */
export const commandLine: Benchmark = {
  ids: ['S9'],
  title: 'The CLI',
  async run(context) {
    const { folder, rounds, sizes, current } = context;
    const service = await startOn(context, current, tableOf(sizes[0] ?? 0));
    const args = ['list', '--user', searcher.userId, '--base-url', service.url];
    const measurements: Partial<Record<Form, () => Promise<CommandTime>>> = {
      bun: () => medianTime([process.execPath, '-e', '0'], folder),
    };
    for (const [form, command] of Object.entries(await commandsIn(context))) {
      measurements[form as Form] = () => medianTime([...command, ...args], folder);
    }
    const measured = await inTurn(rounds, measurements);
    return section(measured);
  },
};

async function commandsIn({ folder, current, quick }: Context) {
  if (hostTarget === undefined) throw new Error('releases contain no executable for this platform');
  const executable = [await buildExecutable(folder, hostTarget)];
  const commands: Partial<Record<Form, string[]>> = { executable };
  if (quick) return commands;
  const installed = await installService(join(folder, 'installed'));
  await runInstallScript(installed);
  return {
    ...commands,
    installed: [installed.memory],
    // Without install scripts, the installed command is this file, run by Node.
    byNode: ['node', join(installed.folder, 'memory.mjs')],
    clone: memoryCommand(current),
  };
}

async function medianTime(command: string[], folder: string): Promise<CommandTime> {
  const runs: CommandTime[] = [];
  for (let run = 0; run < perRound; run += 1) runs.push(await measureCommand(command, folder));
  return { ms: median(wall(runs)), cpuMs: median(cpu(runs)) };
}

function section(figures: Figures) {
  const { executable = [], bun = [] } = figures;
  const measure = 'the executable’s `memory list`: relative to `bun -e 0`';
  const forms = (Object.keys(names) as Form[]).filter((form) => form in figures);
  return {
    goals: [atMost('S9', measure, ratioOf(wall(executable), wall(bun)), most)],
    tables: [
      {
        title: 'Time of `memory list` from start to exit, for a page of 20',
        head: ['', 'ms', 'relative to `bun -e 0`', 'CPU time relative to `bun -e 0`'],
        rows: forms.map((form) => {
          const own = figures[form] ?? [];
          return [
            names[form],
            short(median(wall(own))),
            showRatio(ratioOf(wall(own), wall(bun))),
            showRatio(ratioOf(cpu(own), cpu(bun))),
          ];
        }),
      },
    ],
  };
}

function wall(runs: CommandTime[]): number[] {
  return runs.map(({ ms }) => ms);
}

function cpu(runs: CommandTime[]): number[] {
  return runs.map(({ cpuMs }) => cpuMs);
}
