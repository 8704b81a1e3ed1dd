import type { Memory } from '../../sdk/contract/memory.ts';
import { read, saveOf, send, sendUntilKnown } from './api.ts';
import { type Figures, type Harness, type Run, skipIf, type Violations } from './harness.ts';
import { straceMissing, tampering } from './strace.ts';
import { createTarget, type Target } from './target.ts';

const rounds = { quick: 6, full: 60 };
/** The delay of each sync. */
const syncMs = 150;
/** A change may be visible this long before its response arrives. */
const onTheWayMs = 75;
/**
 * The ordinal numbers of the syncs that fail in each thread. Startup needs fewer than three syncs.
 */
const refusals = '3..5';
const mostSaves = 40;

const another = saveOf('other', 'of somebody else');

export const shown: Harness = {
  id: 'P21',
  promise:
    'Reads never return a change that a power loss could still undo, and do not wait for syncs',
  proof:
    `strace delays every sync by ${syncMs} ms; a memory is saved, updated and deleted while a ` +
    'client lists memories continuously; no list may show a change ' +
    `${onTheWayMs} ms or more before its response; then some syncs fail; a failed save must not ` +
    'be listed until a retry has stored it exactly once',
  control: { without: 'the sync in COMMIT (synchronous=NORMAL)', variants: ['no-sync'] },
  run,
};

async function run({ tier, variants, violations }: Run): Promise<Figures> {
  skipIf(straceMissing());
  await using target = createTarget({ variants });
  const counts = { changes: 0, concurrentReads: 0, visibleTooEarly: 0 };
  await target.start(tampering(['fsync', 'fdatasync'], `delay_exit=${syncMs * 1_000}`));
  // Warms up the server before the first measurement.
  await send(target, another);
  for (let round = 0; round < rounds[tier]; round += 1) {
    for (const change of changesOf(round)) {
      const { reads, earlyMs } = await watch(target, change);
      counts.changes += 1;
      counts.concurrentReads += reads;
      if (reads === 0) violations.add(`${change.method}: no read completed before the response`);
      if (earlyMs < onTheWayMs) continue;
      counts.visibleTooEarly += 1;
      violations.add(`${change.method} was visible ${Math.round(earlyMs)} ms before its response`);
    }
  }
  await target.kill();
  return { ...counts, failedSaves: await failOnce(target, violations) };
}

/**
 * Saves while some syncs fail. The outcome of a failed save is unknown: a list must not show the
 * memory before a retry with the same key, and must show it once afterwards. Returns how many saves
 * failed.
 */
async function failOnce(target: Target, violations: Violations): Promise<number> {
  await target.start(tampering(['fsync', 'fdatasync'], `error=EIO:when=${refusals}`));
  let refused = 0;
  for (let at = 0; at < mostSaves; at += 1) {
    const save = { ...saveOf('refused', `${at}`), idempotencyKey: `s-${at}` };
    const reply = await send(target, save);
    if (reply?.status === 201) continue;
    refused += 1;
    const contents = async () => (await list(target, 'refused')).map(({ content }) => content);
    if ((await contents()).includes(`${at}`)) violations.add('a failed save was listed');
    const again = await sendUntilKnown(target, save);
    if (again.status !== 201) violations.add(`the retry failed: ${again.text}`);
    const stored = (await contents()).filter((content) => content === `${at}`).length;
    if (stored !== 1) violations.add(`after the retry, the memory was stored ${stored} times`);
  }
  if (refused === 0) violations.add('no save failed');
  return refused;
}

type Change = {
  method: 'POST' | 'PATCH' | 'DELETE';
  body?: object;
  isSeenIn(memories: Memory[]): boolean;
};

/** Returns a save, an update and a deletion of the user's only memory. */
function changesOf(round: number): Change[] {
  const [first, second] = [`first ${round}`, `second ${round}`];
  return [
    {
      method: 'POST',
      body: { userId: 'watched', content: first },
      isSeenIn: (memories) => memories.length > 0,
    },
    {
      method: 'PATCH',
      body: { content: second },
      isSeenIn: ([memory]) => memory?.content === second,
    },
    { method: 'DELETE', isSeenIn: (memories) => memories.length === 0 },
  ];
}

/**
 * Sends the change while a client lists continuously. Returns the number of lists, and how long
 * before its response the change was first listed.
 */
async function watch(target: Target, { method, body, isSeenIn }: Change) {
  const [memory] = await list(target);
  let answeredAt: number | null = null;
  let seenAt: number | null = null;
  let reads = 0;
  async function look(): Promise<void> {
    while (answeredAt === null) {
      const memories = await list(target);
      reads += 1;
      if (isSeenIn(memories)) seenAt ??= performance.now();
    }
  }
  const looking = look();
  // A second concurrent write allows the server to commit both writes as a group.
  const path = memory === undefined ? '/v1/memories' : `/v1/memories/${memory.id}`;
  const [reply] = await Promise.all([
    send(target, { method, path, body }).finally(() => {
      answeredAt = performance.now();
    }),
    send(target, another),
  ]);
  await looking;
  if (reply === null || reply.status >= 300)
    throw new Error(`${method} ${path}: ${reply?.status} ${reply?.text}`);
  return { reads, earlyMs: (answeredAt ?? 0) - (seenAt ?? Number.POSITIVE_INFINITY) };
}

async function list(target: Target, userId = 'watched'): Promise<Memory[]> {
  return (await read<{ items: Memory[] }>(target, `/v1/memories?userId=${userId}`)).items;
}
