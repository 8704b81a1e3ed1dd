import type { Accepted } from '../../sdk/contract/ingest.ts';
import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { isDrained, sendOrThrow } from './api.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { auditQueue, type Owed } from './queue-audit.ts';
import { createTarget, startsUp, type Target } from './target.ts';
import { exitsOn, throwsOn } from './variants/handlers.ts';

const records = { quick: 200, full: 5_000 };
/** The share of records with several chunks. */
const longShare = 0.1;
const poison = { throwing: 4, exiting: 2 };
const killEveryMs = 300;
const maxFailedStarts = 10;
const endWithinMs = { quick: 60_000, full: 600_000 };
const userId = 'queue';

export const queue: Harness = {
  id: 'P7',
  promise:
    'Every accepted record reaches the state complete or failed, and its result is stored once, ' +
    'despite crashes',
  proof:
    `the server is killed every ${killEveryMs} ms until the queue is empty; some records make ` +
    'the worker throw an exception, and some make the process exit; the state and the result of ' +
    'each record are then read from the database',
  control: {
    without: 'keeping a task until its result is stored',
    variants: ['complete-on-claim'],
  },
  run,
};

/** A slow worker that fails or crashes on poison records. */
const wiring = ['poison'];

async function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  await using target = createTarget({ variants: [...wiring, ...variants] });
  const supervisor = keepKilling(target);
  try {
    const owed = await fill(target, records[tier], random);
    const timing = { timeoutMs: endWithinMs[tier], what: 'an empty queue' };
    await until(() => isDrained(target), timing).catch((error) => violations.add(String(error)));
    const kills = await supervisor.stop();
    await target.stop();
    const found = auditQueue(target.path, owed, violations);
    return { records: owed.size, kills, ...found };
  } finally {
    await supervisor.stop();
  }
}

/** Starts and kills the server repeatedly. After `stop`, the server is running. */
function keepKilling(target: Target): { stop(): Promise<number> } {
  let stopping = false;
  let kills = 0;
  let failedStarts = 0;
  async function loop(): Promise<void> {
    while (!stopping) {
      // A poison record can kill the process before the server reports its address.
      failedStarts = (await startsUp(target)) ? 0 : failedStarts + 1;
      if (failedStarts > maxFailedStarts) return target.giveUp();
      await Promise.race([Bun.sleep(killEveryMs), target.whenDown()]);
      if (stopping && target.running()) return;
      await target.kill();
      kills += 1;
    }
    await target.start();
  }
  const ended = loop();
  return {
    async stop() {
      stopping = true;
      await ended;
      return kills;
    },
  };
}

async function fill(target: Target, count: number, random: Random): Promise<Map<string, Owed>> {
  const owed = new Map<string, Owed>();
  for (let index = 0; index < count; index += 1) {
    const { text, fate } = makeText(index, random);
    const body = { userId, source: 'queue', externalId: `x-${index}`, data: { text } };
    const idempotencyKey = `fill-${index}`;
    const call = { method: 'POST' as const, path: '/v1/ingest/document', body, idempotencyKey };
    owed.set((await sendOrThrow<Accepted>(target, call)).memoryId, { text, fate });
  }
  return owed;
}

/** A few records are poison, and some have several chunks. */
function makeText(index: number, random: Random): Owed {
  const { throwing, exiting } = poison;
  if (index < throwing) return { text: `${throwsOn} ${index}`, fate: 'failed' };
  if (index < throwing + exiting) return { text: `${exitsOn} ${index}`, fate: 'failed' };
  const words = random.chance(longShare) ? random.between(500, 2_000) : random.between(0, 40);
  return { text: `record ${index} ${'word '.repeat(words)}`, fate: 'complete' };
}
