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

/** The responses to the requests with one key, and the effects that these responses report. */
type Seen = { answers: Set<string>; created: number; ids: number; sends: number };

async function run({ tier, variants, random, violations }: Run): Promise<Figures> {
  await using target = createTarget({ variants });
  await target.start();
  const calls = Array.from({ length: keys[tier] }, (_, index) => {
    return makeCall(random, index);
  });
  const work = sendAll(target, calls, random);
  const { from, to } = killAfterMs[tier];
  const kills = await killDuring(work, target, () => random.between(from, to), maxKills[tier]);
  const seen = await work;
  await expectDrained(target, 30_000, violations);
  const stored = (await listAll(target, userId)).length;
  return { keys: keys[tier], kills, ...compareReplies(seen, stored, violations) };
}

/**
 * Checks that each key has one effect and one response. `stored` is the number of memories found.
 */
function compareReplies(seen: Seen[], stored: number, violations: Violations) {
  const expected = seen.reduce((sum, { ids }) => sum + ids, 0);
  const differing = seen.filter(({ answers }) => answers.size !== 1).length;
  const twice = seen.filter(({ created }) => created > 1).length;
  if (differing > 0) violations.add(`${differing} keys had different responses`);
  if (twice > 0) violations.add(`${twice} keys had more than one effect`);
  if (stored !== expected) violations.add(`${stored} memories are stored, expected ${expected}`);
  const sends = seen.reduce((sum, { sends }) => sum + sends, 0);
  return { requests: sends, differingResponses: differing, duplicates: stored - expected };
}

async function sendAll(target: Target, calls: Call[], random: Random): Promise<Seen[]> {
  const seen: Seen[] = [];
  const queue = [...calls];
  async function worker(): Promise<void> {
    for (let call = queue.pop(); call !== undefined; call = queue.pop()) {
      seen.push(await sendRepeatedly(target, call, random.chance(twinShare)));
    }
  }
  await Promise.all(Array.from({ length: workers }, worker));
  return seen;
}

async function sendRepeatedly(target: Target, call: Call, asTwins: boolean): Promise<Seen> {
  const seen = nothingSeen();
  if (asTwins) {
    await target.whenUp();
    const replies = await Promise.all(Array.from({ length: twins }, () => send(target, call)));
    for (const reply of replies) note(seen, reply);
  }
  for (let time = 0; time < sendsPerKey; time += 1) {
    note(
      seen,
      await sendUntilKnown(target, call, () => {
        seen.sends += 1;
      }),
    );
  }
  return seen;
}

function nothingSeen(): Seen {
  return { answers: new Set(), created: 0, ids: 0, sends: 0 };
}

function note(seen: Seen, reply: Reply | null): void {
  seen.sends += 1;
  // The outcome is unknown.
  if (reply === null || reply.status >= 500) return;
  seen.answers.add(`${reply.status} ${reply.text}`);
  if (reply.headers.get('idempotency-status') === 'created') seen.created += 1;
  if (reply.status < 300) seen.ids = countIds(JSON.parse(reply.text));
}

function countIds(answer: Accepted | BatchAccepted): number {
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
