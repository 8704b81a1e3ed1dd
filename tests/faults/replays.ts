import type { Accepted, BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { Random } from '../support/random.ts';
import { type Call, expectDrained, listAll, type Reply, send, sendUntilKnown } from './api.ts';
import type { Figures, Harness, Run, Violations } from './harness.ts';
import { createTarget, killDuring, type Target } from './target.ts';

const keys = { quick: 300, full: 10_000 };
const sendsPerKey = 3;
const twins = 50;
const twinShare = 0.02;
const workers = 12;
const killAfterMs = { quick: { from: 20, to: 120 }, full: { from: 20, to: 400 } };
/** The maximum number of kills. If starts are slow, more kills would leave no time for requests. */
const maxKills = { quick: 15, full: 1_000 };
const userId = 'replayer';

export const replays: Harness = {
  id: 'P5',
  promise:
    'A request that is repeated with its idempotency key takes effect once and always returns ' +
    'the same response',
  proof:
    `each request is sent ${sendsPerKey} times, and one in ${1 / twinShare} also from ${twins} ` +
    'connections at the same time, while the server is killed and restarted; each idempotency ' +
    'key must have one response and one effect',
  control: {
    without: 'the lookup of stored responses',
    variants: ['no-replay'],
  },
  run,
};

async function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  await using target = createTarget({ variants });
  await target.start();
  const calls = Array.from({ length: keys[tier] }, (_, index) => makeCall(random, index));
  const sent: (Reply | null)[][] = [];
  async function worker(): Promise<void> {
    for (let call = calls.pop(); call !== undefined; call = calls.pop()) {
      sent.push(await sendRepeatedly(target, call, random.chance(twinShare)));
    }
  }
  const work = Promise.all(Array.from({ length: workers }, worker));
  const { from, to } = killAfterMs[tier];
  const kills = await killDuring(work, target, () => random.between(from, to), maxKills[tier]);
  await expectDrained(target, 30_000, violations);
  const stored = (await listAll(target, userId)).length;
  return { keys: keys[tier], kills, ...compareReplies(sent, stored, violations) };
}

/** Returns the replies to all requests with one key; null if there was none. */
async function sendRepeatedly(
  target: Target,
  call: Call,
  asTwins: boolean,
): Promise<(Reply | null)[]> {
  const replies: (Reply | null)[] = [];
  if (asTwins) {
    await target.whenUp();
    replies.push(...(await Promise.all(Array.from({ length: twins }, () => send(target, call)))));
  }
  for (let time = 0; time < sendsPerKey; time += 1) {
    replies.push(await sendUntilKnown(target, call, () => replies.push(null)));
  }
  return replies;
}

/**
 * Checks that each key has one effect and one response. `stored` is the number of memories found.
 */
function compareReplies(sent: (Reply | null)[][], stored: number, violations: Violations) {
  const counts = { requests: 0, differingResponses: 0, duplicates: stored };
  let twice = 0;
  for (const replies of sent) {
    // The outcome of other requests is unknown.
    const known = replies.flatMap((reply) => (reply !== null && reply.status < 500 ? [reply] : []));
    const created = known.filter(({ headers }) => headers.get('idempotency-status') === 'created');
    const responses = new Set(known.map(({ status, text }) => `${status} ${text}`));
    counts.requests += replies.length;
    if (responses.size !== 1) counts.differingResponses += 1;
    if (created.length > 1) twice += 1;
    counts.duplicates -= countMemories(known.findLast(({ status }) => status < 300));
  }
  const { differingResponses, duplicates } = counts;
  if (differingResponses > 0) violations.add(`${differingResponses} keys had different responses`);
  if (twice > 0) violations.add(`${twice} keys had more than one effect`);
  if (duplicates !== 0)
    violations.add(`${stored} memories are stored, expected ${stored - duplicates}`);
  return counts;
}

function countMemories(reply: Reply | undefined): number {
  if (reply === undefined) return 0;
  const answer: Accepted | BatchAccepted = JSON.parse(reply.text);
  return 'items' in answer ? answer.items.length : 1;
}

/** Returns a save, a record or a batch with its own idempotency key. */
function makeCall(random: Random, index: number): Call {
  const idempotencyKey = `replay-${index}`;
  const content = `text ${index}`;
  const record = { userId, type: 'document', data: { text: content } };
  const draw = random.next();
  const call = { method: 'POST' as const, idempotencyKey };
  if (draw < 0.6) return { ...call, path: '/v1/memories', body: { userId, content } };
  if (draw < 0.9) return { ...call, path: '/v1/ingest', body: record };
  return { ...call, path: '/v1/ingest/batch', body: { items: [record, record, record] } };
}
