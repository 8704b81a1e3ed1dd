import type { Random } from '../support/random.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { startLoad } from './load.ts';
import { createTarget, restart, type Target } from './target.ts';

const kills = { quick: 12, full: 250 };
const clients = 8;
/** The time from a start to the next kill. The upper limit allows a few hundred writes. */
const killAfterMs = { from: 5, to: 400 };
const drainWithinMs = 30_000;

export const crash: Harness = {
  id: 'P1',
  promise: 'An acknowledged write (2xx) survives a crash of the server at any moment',
  proof:
    `${clients} clients save, update, delete, ingest, send batches and replay requests while the ` +
    'server is killed with SIGKILL at random moments; the memories that the API returns ' +
    'afterwards are compared with the acknowledged writes',
  control: { without: 'waiting for COMMIT before responding', variants: ['answer-early'] },
  run,
};

async function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  await using target = createTarget({ variants });
  await target.start();
  const load = startLoad({ target, violations, random, clients });
  const slowestStartMs = await killAtRandom(target, random, kills[tier]);
  return { kills: kills[tier], ...(await load.settle(drainWithinMs)), slowestStartMs };
}

/** Kills and restarts the server at random moments. Returns the slowest start in ms. */
async function killAtRandom(target: Target, random: Random, times: number): Promise<number> {
  let slowestMs = 0;
  for (let kill = 0; kill < times; kill += 1) {
    await Bun.sleep(random.between(killAfterMs.from, killAfterMs.to));
    slowestMs = Math.max(slowestMs, await restart(target));
  }
  return Math.round(slowestMs);
}
