import type { Benchmark, Context } from './kit/benchmark.ts';
import { atLeast } from './kit/goals.ts';
import { cpuNote, type Figures, loadOf, loadTable, rateRatio } from './kit/measured-load.ts';
import { searches } from './kit/paths.ts';
import type { Subject } from './kit/process.ts';
import { gets } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { startOn } from './kit/service.ts';
import { searchDataset, smallUsers } from './s6-search.ts';

const clients = 8;
const ofCores = 0.8;
const ofBaseline = 4;

const names = {
  one: 'the service, one client',
  many: `the service, ${clients} clients`,
  baselineOne: 'the baseline, one client',
  baselineMany: `the baseline, ${clients} clients`,
};
type Name = keyof typeof names;

/** Concurrent searches by several clients, for users with 1,000 memories each. */
export const searchClients: Benchmark = {
  ids: ['S6b'],
  title: 'Searches by several clients',
  async run(context) {
    const { rounds, current, baseline } = context;
    const dataset = searchDataset(context.quick);
    const service = await startOn(context, current, dataset);
    const older = await startOn(context, baseline, dataset);
    const figures = await inTurn(rounds, {
      one: measurementOf(context, service, 1),
      many: measurementOf(context, service, clients),
      baselineOne: measurementOf(context, older, 1),
      baselineMany: measurementOf(context, older, clients),
    });
    return section(figures);
  },
};

function measurementOf({ quick, seconds }: Context, subject: Subject, connections: number) {
  const next = gets(smallUsers(quick).slice(0, clients).flatMap(searches));
  return () => loadOf(subject, { connections, seconds, next });
}

function section(figures: Figures<Name>) {
  const title = `Searches of the memories of ${clients} users with 1,000 each`;
  const about = { title, what: 'searches' };
  const cores = navigator.hardwareConcurrency;
  const measure = `searches per second, ${clients} clients, users with 1,000 memories: relative to`;
  const toOne = `${measure} one client’s, on ${cores} cores`;
  const toOlder = `${measure} the baseline’s`;
  const [unit, baseline] = [' ×', rateRatio(figures, 'baselineMany', 'baselineOne')];
  return {
    goals: [
      atLeast('S6b', toOne, rateRatio(figures, 'many', 'one'), ofCores * cores, { unit, baseline }),
      atLeast('S6b', toOlder, rateRatio(figures, 'many', 'baselineMany'), ofBaseline, { unit }),
    ],
    tables: [loadTable(about, figures, names, { name: 'one', title: 'one client' })],
    notes: [cpuNote],
  };
}
