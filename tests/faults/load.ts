import type { Random } from '../support/random.ts';
import { expectDrained, type Reply, sendUntilKnown } from './api.ts';
import type { Violations } from './harness.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { Target } from './target.ts';
import { startLoops } from './traffic/loops.ts';
import { createWrites, type Owner, type Write } from './writes.ts';

type LoadOptions = {
  target: Target;
  violations: Violations;
  random: Random;
  clients: number;
  /** How long each client pauses after a write, to limit the load. */
  pauseMs?: number;
};

/** The number of recent responses that each client keeps for replays. */
const remembered = 200;
const replayShare = 0.12;

type Running = Omit<LoadOptions, 'clients'> & { ledger: Ledger };

/** A write with its first response. */
export type Answered = { write: Write; status: number; text: string; ids: string[] };

/**
 * Starts clients that save, update, delete, ingest, send batches and replay. Each client has its
 * own user and sends one write at a time, so the expected state is known.
 */
export function startLoad({ clients, ...options }: LoadOptions) {
  const { target, violations } = options;
  const ledger = createLedger();
  const names = Array.from({ length: clients }, (_, index) => `client-${index}`);
  const { stop } = startLoops(names.map((userId) => createClient({ ...options, ledger }, userId)));
  return {
    /** Stops the clients after their current operation. */
    stop,
    /** Stops the clients, waits until the queue is empty, and compares the stored memories. */
    async settle(drainWithinMs: number) {
      await stop();
      await expectDrained(target, drainWithinMs, violations);
      return { ...ledger.counts, ...(await ledger.compare(target, violations)) };
    },
  };
}

function createClient(options: Running, userId: string): () => Promise<void> {
  const { target, ledger, violations, pauseMs = 0 } = options;
  const random = options.random.fork(userId);
  const owner: Owner = { userId, memories: [], byExternalId: new Map() };
  const nextWrite = createWrites(owner, ledger, random);
  const answered: Answered[] = [];
  return async () => {
    const again = random.chance(replayShare) ? answered[random.between(0, remembered)] : undefined;
    if (again !== undefined) return replay(options, again);
    const write = nextWrite();
    const reply = await sendUntilKnown(target, write, () => {
      ledger.counts.unknownOutcomes += 1;
    });
    if (reply.status < 300) {
      answered.unshift(acknowledge(ledger, write, reply));
      answered.length = Math.min(answered.length, remembered);
    } else {
      ledger.counts.rejected += 1;
      violations.add(`rejected: ${write.method} ${write.path}: ${reply.status} ${reply.text}`);
    }
    if (pauseMs > 0) await Bun.sleep(pauseMs);
  };
}

export function acknowledge(ledger: Ledger, write: Write, { status, text }: Reply): Answered {
  ledger.counts.acknowledged += 1;
  return { write, status, text, ids: write.settle(text === '' ? null : JSON.parse(text)) };
}

/** Repeats the write. The response must equal the first response, except for text deleted since. */
export async function replay(
  { target, ledger, violations }: Pick<Running, 'target' | 'ledger' | 'violations'>,
  { write, status, text, ids }: Answered,
): Promise<void> {
  const reply = await sendUntilKnown(target, write);
  ledger.counts.replayed += 1;
  const about = `${write.method} ${write.path} ${write.idempotencyKey}`;
  if (reply.headers.get('idempotency-status') !== 'replayed') {
    violations.add(`the replay was not marked as replayed: ${about}: ${reply.status}`);
    return;
  }
  const cut = ids.some((id) => ledger.owed(id) === undefined) && reply.text.includes('"deleted"');
  if (reply.status !== status || (reply.text !== text && !cut)) {
    violations.add(
      `the replayed response differs: ${about}: ${status} ${text} | ${reply.status} ${reply.text}`,
    );
  }
}
