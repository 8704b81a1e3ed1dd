import type { Context } from './benchmark.ts';
import { type Figures, loadOf } from './measured-load.ts';
import type { Subject } from './process.ts';
import type { NextRequest } from './requests.ts';
import { inTurn } from './rounds.ts';

export const clients = 8;
export const oneClient = 'one client';
export const manyClients = `${clients} clients`;

/**
 * Loads each subject with one client and with several, and calls `afterMany` after the latter. The
 * names of the figures are those of the subjects with the number of clients.
 */
export async function measureClients(
  { rounds, seconds }: Pick<Context, 'rounds' | 'seconds'>,
  subjects: Record<string, Subject>,
  nextOf: () => NextRequest,
  afterMany = (_: Subject) => {},
): Promise<{ figures: Figures<string>; names: Record<string, string> }> {
  const measurements = Object.entries(subjects).flatMap(([name, subject]) =>
    [1, clients].map((connections) => {
      const next = nextOf();
      const measure = async () => {
        const measured = await loadOf(subject, { connections, seconds, next });
        if (connections > 1) afterMany(subject);
        return measured;
      };
      return [`${name}, ${connections === 1 ? oneClient : manyClients}`, measure] as const;
    }),
  );
  const figures = await inTurn(rounds, Object.fromEntries(measurements));
  return { figures, names: Object.fromEntries(measurements.map(([name]) => [name, name])) };
}
