import type { Benchmark } from './kit/benchmark.ts';
import { clients, manyClients, measureClients, oneClient } from './kit/clients.ts';
import { atLeast } from './kit/goals.ts';
import { cpuNote, loadTable, rateRatio } from './kit/measured-load.ts';
import { searches } from './kit/paths.ts';
import { gets } from './kit/requests.ts';
import { startOn } from './kit/service.ts';
import { searchDataset, smallUsers } from './s6-search.ts';

const ofCores = 0.8;
const ofBaseline = 4;

/** Concurrent searches by several clients, for users with 1,000 memories each. */
export const searchClients: Benchmark = {
  ids: ['S6b'],
  title: 'Searches by several clients',
  async run(context) {
    const { current, baseline, quick } = context;
    const dataset = searchDataset(quick);
    const subjects = {
      'the service': await startOn(context, current, dataset),
      'the baseline': await startOn(context, baseline, dataset),
    };
    const nextOf = () => gets(smallUsers(quick).slice(0, clients).flatMap(searches));
    const { figures, names } = await measureClients(context, subjects, nextOf);
    const rate = (one: string, other: string) => rateRatio(figures, one, other);
    const [one, many] = [`the service, ${oneClient}`, `the service, ${manyClients}`];
    const [olderOne, older] = [`the baseline, ${oneClient}`, `the baseline, ${manyClients}`];
    const cores = navigator.hardwareConcurrency;
    const measure = `searches per second, ${manyClients}, users with 1,000 memories: relative to`;
    const toOne = `${measure} one client’s, on ${cores} cores`;
    const ofOlder = { unit: ' ×', baseline: rate(older, olderOne) };
    const title = `Searches of the memories of ${clients} users with 1,000 each`;
    const reference = { name: one, title: oneClient };
    return {
      goals: [
        atLeast('S6b', toOne, rate(many, one), ofCores * cores, ofOlder),
        atLeast('S6b', `${measure} the baseline’s`, rate(many, older), ofBaseline, { unit: ' ×' }),
      ],
      tables: [loadTable({ title, what: 'searches' }, figures, names, reference)],
      notes: [cpuNote],
    };
  },
};
