import type { Accepted } from '../../sdk/contract/ingest.ts';
import type { Health } from '../../sdk/contract/status.ts';
import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { send, sendOrThrow } from './api.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { auditQueue, type Owed } from './queue-audit.ts';
import { createTarget, startsUp, type Target } from './target.ts';
import { exitsOn, throwsOn } from './variants/handlers.ts';

const records = { quick: 200, full: 5_000 };
const poison = { throwing: 4, exiting: 2 };
/** The number of clients that repeatedly ingest and update the same few records during the run. */
const restless = 6;
const versions = { quick: 8, full: 20 };
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
    'the worker throw an exception, some make the process exit, and some change during ' +
    'processing; the state and the result of each record are then read from the database',
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
    const writes = await disturb(target, owed, random, versions[tier]);
    const timing = { timeoutMs: endWithinMs[tier], what: 'an empty queue' };
    await until(() => isEmpty(target), timing).catch((error) => violations.add(String(error)));
    const kills = await supervisor.stop();
    await target.stop();
    const found = auditQueue(target.path, owed, violations);
    return { records: owed.size, kills, concurrentChanges: writes, ...found };
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

async function isEmpty(target: Target): Promise<boolean> {
  await target.whenUp();
  const health = await send(target, { method: 'GET', path: '/health' });
  return health !== null && (JSON.parse(health.text) as Health).pending === 0;
}

async function fill(target: Target, count: number, random: Random): Promise<Map<string, Owed>> {
  const owed = new Map<string, Owed>();
  for (let index = 0; index < count; index += 1) {
    const { text, fate } = makeText(index, random);
    const data = { text };
    const body = { userId, source: 'queue', externalId: `x-${index}`, data };
    const id = await accept(target, body, `fill-${index}`);
    owed.set(id, { text, fate });
  }
  return owed;
}

function makeText(index: number, random: Random): Owed {
  const { throwing, exiting } = poison;
  if (index < throwing) return { text: `${throwsOn} ${index}`, fate: 'failed' };
  if (index < throwing + exiting) return { text: `${exitsOn} ${index}`, fate: 'failed' };
  return { text: `record ${index} ${'x'.repeat(random.between(0, 200))}`, fate: 'complete' };
}

/** Repeatedly ingests and updates long documents while the worker processes them. */
async function disturb(
  target: Target,
  owed: Map<string, Owed>,
  random: Random,
  times: number,
): Promise<number> {
  let writes = 0;
  async function one(index: number): Promise<void> {
    for (let version = 0; version < times; version += 1) {
      const text = `${index} ${version} ${'restless '.repeat(random.between(500, 2_000))}`;
      const body = {
        userId,
        source: 'queue',
        externalId: `r-${index}-${version >> 2}`,
        data: { text },
      };
      const id = await accept(target, body, `restless-${index}-${version}`);
      owed.set(id, { text, fate: 'complete' });
      await Bun.sleep(random.between(0, 40));
      if (random.chance(0.3)) owed.set(id, { text: await update(target, id), fate: 'complete' });
      writes += 1;
    }
  }
  await Promise.all(Array.from({ length: restless }, (_, index) => one(index)));
  return writes;
}

async function update(target: Target, id: string): Promise<string> {
  const content = `updated ${crypto.randomUUID()}`;
  const call = { method: 'PATCH' as const, path: `/v1/memories/${id}`, body: { content } };
  await sendOrThrow(target, { ...call, idempotencyKey: content.slice(8) });
  return content;
}

async function accept(target: Target, body: unknown, key: string): Promise<string> {
  const call = { method: 'POST' as const, path: '/v1/ingest/document', body, idempotencyKey: key };
  return (await sendOrThrow<Accepted>(target, call)).memoryId;
}
