import type { Random } from '../../support/random.ts';
import type { Target } from '../target.ts';
import { startLoops } from '../traffic/loops.ts';
import type { History } from './history.ts';
import { type Client, get, list, remove, save, search, update } from './requests.ts';

export type Clients = { stop(): Promise<History> };

/**
 * Starts groups of clients. The clients of a group save, read, update, delete, list and search the
 * same memories.
 */
export function startClients(
  target: Target,
  random: Random,
  { groups, perGroup }: { groups: number; perGroup: number },
): Clients {
  const history: History = { writes: [], observations: [] };
  let lastValue = 0;
  const nextValue = () => {
    lastValue += 1;
    return lastValue;
  };
  const steps = Array.from({ length: groups }, (_, group) => {
    const board = { userId: `g${group}-0`, generation: 0, saved: 0, ids: [] };
    return Array.from({ length: perGroup }, (_, index) => {
      const number = group * perGroup + index;
      const own = { target, history, board, number, nextValue, random: random.fork(number) };
      return () => sendOne(own);
    });
  });
  const loops = startLoops(steps.flat());
  return { stop: () => loops.stop().then(() => history) };
}

async function sendOne(client: Client): Promise<void> {
  await client.target.whenUp();
  const share = client.random.next();
  if (share < 0.12) await save(client);
  else if (share < 0.34) await update(client);
  else if (share < 0.4) await remove(client);
  else if (share < 0.7) await get(client);
  else if (share < 0.86) await list(client);
  else await search(client);
}
