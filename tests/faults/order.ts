import type { Accepted } from '../../sdk/contract/ingest.ts';
import { expectDrained, find, sendOrThrow } from './api.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { auditQueue, type Owed } from './queue-audit.ts';
import { createTarget, killDuring } from './target.ts';

const things = { quick: 40, full: 200 };
const versions = { quick: 12, full: 20 };
const clients = 8;
/** Long enough for the worker to store results between two kills. */
const killAfterMs = { from: 200, to: 1_200 };
const pauseMs = 40;
const updatedShare = 0.3;
const userId = 'order';

export const order: Harness = {
  id: 'P8',
  promise: 'Records for the same memory are applied in the order in which they were accepted',
  proof:
    'records with the same source and externalId are ingested one after the other, and some are ' +
    'updated while they are processed, while the server is killed at random moments; a read after ' +
    'each response must return the new text; at the end, the content and the number of chunks ' +
    'must be those of the last accepted record or update',
  control: {
    without: 'the check that the worker still holds the lease',
    variants: ['no-lease-check'],
  },
  run,
};

/** Makes the worker slower than the clients. */
const wiring = ['overtaken-worker'];

async function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  await using target = createTarget({ variants: [...wiring, ...variants] });
  const owed = new Map<string, Owed>();
  const counts = { versions: 0, updates: 0, reads: 0, staleReads: 0 };
  await target.start();

  async function putAndLook(index: number, version: number): Promise<void> {
    const text = `${index} v${version} ${'word '.repeat(random.between(500, 3_000))}`;
    const body = { userId, source: 'order', externalId: `x-${index}`, data: { text } };
    const idempotencyKey = `order-${index}-${version}`;
    const call = { method: 'POST' as const, path: '/v1/ingest/document', body, idempotencyKey };
    const { memoryId } = await sendOrThrow<Accepted>(target, call);
    owed.set(memoryId, { text, fate: 'complete' });
    counts.versions += 1;
    const memory = await find(target, memoryId).catch(() => undefined);
    if (memory !== undefined) counts.reads += 1;
    if (memory !== undefined && memory?.content !== text) counts.staleReads += 1;
    await Bun.sleep(random.between(0, pauseMs));
    if (random.chance(updatedShare)) await update(memoryId, `updated-${idempotencyKey}`);
  }

  async function update(id: string, content: string): Promise<void> {
    const call = { method: 'PATCH' as const, path: `/v1/memories/${id}`, body: { content } };
    await sendOrThrow(target, { ...call, idempotencyKey: content });
    owed.set(id, { text: content, fate: 'complete' });
    counts.updates += 1;
  }

  const waiting = Array.from({ length: things[tier] }, (_, index) => index);
  const work = Promise.all(
    Array.from({ length: clients }, async () => {
      for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
        for (let version = 0; version < versions[tier]; version += 1) {
          await putAndLook(index, version);
        }
      }
    }),
  );
  const nextMs = () => random.between(killAfterMs.from, killAfterMs.to);
  const kills = await killDuring(work, target, nextMs);
  await expectDrained(target, 60_000, violations);
  await target.stop();
  const found = auditQueue(target.path, owed, violations);
  if (counts.staleReads > 0) violations.add(`${counts.staleReads} reads returned stale text`);
  return { kills, ...counts, ...found };
}
