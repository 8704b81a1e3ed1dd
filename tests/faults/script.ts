import type { Random } from '../support/random.ts';
import { expectDrained, send, sendUntilKnown } from './api.ts';
import type { Violations } from './harness.ts';
import { createLedger } from './ledger.ts';
import type { Target } from './target.ts';
import { createWrites, type Owner, type Write } from './writes.ts';

/** The maximum number of attempts per write. A single error does not end the script. */
const attempts = 3;

/**
 * Creates a script of `length` writes by one client, which a fault may interrupt. They depend only
 * on the generator's seed. With `reads`, a list precedes each write.
 */
export function createScript(random: Random, length: number, { reads }: { reads: boolean }) {
  const ledger = createLedger();
  const owner: Owner = { userId: 'script', memories: [], byExternalId: new Map() };
  const nextWrite = createWrites(owner, ledger, random.fork('script'));
  let unknown: Write | null = null;
  let last: { write: Write; text: string } | null = null;
  let left = length;

  function enter(write: Write, text: string): void {
    write.settle(text === '' ? null : JSON.parse(text));
    ledger.counts.acknowledged += 1;
    last = { write, text };
  }

  async function step(target: Target, write: Write): Promise<boolean> {
    for (let attempt = 0; attempt < attempts && target.running(); attempt += 1) {
      const reply = await send(target, write);
      if (reply !== null && reply.status < 300) {
        enter(write, reply.text);
        return true;
      }
      ledger.counts.unknownOutcomes += 1;
    }
    return false;
  }

  return {
    ledger,
    /** Sends the writes in order. Stops and returns false when all attempts at a write fail. */
    async play(target: Target): Promise<boolean> {
      for (; left > 0; left -= 1) {
        const write = nextWrite();
        if (reads) await send(target, { method: 'GET', path: '/v1/memories?userId=script' });
        if (await step(target, write)) continue;
        unknown = write;
        return false;
      }
      return true;
    },
    /**
     * Requires a healthy server. Repeats the last acknowledged write, retries the write with an
     * unknown outcome, and compares the stored memories with the ledger.
     */
    async settle(target: Target, violations: Violations, about: string): Promise<void> {
      if (last !== null) await expectReplay(target, last, unknown, violations, about);
      if (unknown !== null) {
        const { status, text } = await sendUntilKnown(target, unknown);
        if (status < 300) enter(unknown, text);
        else violations.add(`${about}: the retry of ${unknown.path} returned ${status}`);
      }
      await expectDrained(target, 20_000, violations);
      const found = await ledger.compare(target, violations);
      const bad = Object.entries(found).filter(([, count]) => count > 0);
      if (bad.length > 0) violations.add(`${about}: ${JSON.stringify(Object.fromEntries(bad))}`);
    },
  };
}

async function expectReplay(
  target: Target,
  { write, text }: { write: Write; text: string },
  unknown: Write | null,
  violations: Violations,
  about: string,
): Promise<void> {
  const reply = await sendUntilKnown(target, write);
  const expected = [text, ...cutDown(text, unknown)];
  const isReplay = reply.headers.get('idempotency-status') === 'replayed';
  if (isReplay && expected.includes(reply.text)) return;
  violations.add(
    `${about}: the replay of the last response returned ${reply.status} ${reply.text}`,
  );
}

/** Returns the replay that is expected if the unacknowledged write has deleted the memory. */
function cutDown(text: string, unknown: Write | null): string[] {
  const { memoryId, id = memoryId }: { id?: string; memoryId?: string } =
    text === '' ? {} : JSON.parse(text);
  if (id === undefined || unknown?.method !== 'DELETE' || !unknown.path.endsWith(id)) return [];
  return [JSON.stringify({ id, memoryId: id, deleted: true })];
}
