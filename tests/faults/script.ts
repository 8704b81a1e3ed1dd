import type { Random } from '../support/random.ts';
import { expectDrained, send, sendUntilKnown } from './api.ts';
import type { Violations } from './harness.ts';
import { createLedger } from './ledger.ts';
import { type Answered, acknowledge, replay } from './load.ts';
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
  let last: Answered | null = null;
  let left = length;

  async function step(target: Target, write: Write): Promise<boolean> {
    for (let attempt = 0; attempt < attempts && target.running(); attempt += 1) {
      const reply = await send(target, write);
      if (reply !== null && reply.status < 300) {
        last = acknowledge(ledger, write, reply);
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
     * Requires a healthy server. Retries the write with an unknown outcome, repeats the last
     * acknowledged write, and compares the stored memories with the ledger.
     */
    async settle(target: Target, all: Violations, about: string): Promise<void> {
      const violations = { ...all, add: (text: string) => all.add(`${about}: ${text}`) };
      const answered = last;
      if (unknown !== null) {
        const reply = await sendUntilKnown(target, unknown);
        if (reply.status < 300) acknowledge(ledger, unknown, reply);
        else violations.add(`the retry of ${unknown.path} returned ${reply.status}`);
      }
      if (answered !== null) await replay({ target, ledger, violations }, answered);
      await expectDrained(target, 20_000, violations);
      await ledger.compare(target, violations);
    },
  };
}
