import type { Benchmark } from './kit/benchmark.ts';
import { load } from './kit/load.ts';
import { median, short } from './kit/numbers.ts';
import { startSubject } from './kit/process.ts';
import { saves } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';

const connections = 64;

/** The maximum rate of the load generator. */
export const generator: Benchmark = {
  ids: ['S0'],
  title: 'The load generator',
  async run({ rounds, seconds, folder }) {
    const server = await startSubject('subjects/nothing', folder, {});
    const options = { url: server.url, connections, seconds, next: saves() };
    const { ours } = await inTurn(rounds, {
      ours: async () => (await load(options)).perSecond,
    });
    await server.stop();
    return {
      goals: [],
      tables: [
        {
          title:
            'Requests per second that the load generator reaches with a server that answers every ' +
            'request with `{}`. The generator and the server share the machine, so no figure below ' +
            'can exceed this rate',
          head: ['generator', 'requests/s'],
          rows: [['ours', short(median(ours))]],
        },
      ],
    };
  },
};
