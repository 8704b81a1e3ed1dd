import { drained, readStatus, send } from './api.ts';
import { createViolations, type Finding, type Harness, type RunOptions } from './harness.ts';
import { createTarget, type Target } from './target.ts';

const batchItems = { quick: 100, full: 1_000 };
const extraBatches = 30;
const userId = 'full-queue';
const room = { quick: 1_000, full: 100_000 };
const drainWithinMs = { quick: 30_000, full: 900_000 };

export const fullQueue: Harness = {
  id: 'P19',
  promise: 'Accepted records are never dropped; a full queue rejects batches with 429',
  proof:
    'batches are sent faster than a slowed worker processes them, until they are rejected; every ' +
    'accepted record must eventually be processed (the quick run lowers the queue limit to 1,000)',
  control: {
    without: 'the rejection of records over the limit (the variant drops them)',
    variants: ['drop-when-full'],
  },
  run,
};

async function run({ tier, variants }: RunOptions): Promise<Finding> {
  const violations = createViolations();
  const small = tier === 'quick' ? ['small-queue'] : [];
  const target = createTarget({ variants: ['slow-split', ...small, ...variants] });
  const accepted: string[] = [];
  let refused = 0;
  try {
    await target.start();
    const batches = room[tier] / batchItems[tier] + extraBatches;
    for (let batch = 0; batch < batches; batch += 1) {
      const ids = await sendBatch(target, batch, batchItems[tier], violations);
      if (ids === null) refused += 1;
      else accepted.push(...ids);
    }
    if (refused === 0) violations.add('no batch was rejected');
    if (!(await drained(target, drainWithinMs[tier])))
      violations.add('the queue was not empty before the time limit');
    const processed = await countComplete(target, accepted);
    if (processed !== accepted.length) {
      violations.add(`${processed} of ${accepted.length} accepted records were processed`);
    }
    const figures = {
      queueLimit: room[tier],
      accepted: accepted.length,
      processed,
      rejectedBatches: refused,
    };
    return { figures, violations: violations.list() };
  } finally {
    await target.remove();
  }
}

/** Returns the ids of the accepted records, or null if the batch was rejected. */
async function sendBatch(
  target: Target,
  batch: number,
  count: number,
  violations: ReturnType<typeof createViolations>,
): Promise<string[] | null> {
  const items = Array.from({ length: count }, (_, index) => {
    return { type: 'event', userId, data: { name: `event ${batch} ${index}` } };
  });
  const reply = await send(target, { method: 'POST', path: '/v1/ingest/batch', body: { items } });
  if (reply?.status === 202) {
    const answer = JSON.parse(reply.text) as { items: { memoryId: string }[] };
    return answer.items.map(({ memoryId }) => memoryId);
  }
  const isExplained = reply?.status === 429 && Number(reply.headers.get('retry-after')) > 0;
  if (!isExplained) violations.add(`the full queue returned ${reply?.status} ${reply?.text}`);
  return null;
}

async function countComplete(target: Target, ids: string[]): Promise<number> {
  let complete = 0;
  for (let begin = 0; begin < ids.length; begin += 100) {
    const some = ids.slice(begin, begin + 100);
    const found = await Promise.all(some.map((id) => readStatus(target, id).catch(() => null)));
    complete += found.filter((status) => status?.status === 'complete').length;
  }
  return complete;
}
