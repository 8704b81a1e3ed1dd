import { setTimeout } from 'node:timers/promises';
import type { headers } from '../sdk/contract/headers.ts';
import { type Io, note } from './io.ts';

/* Of the contract, which the type checker holds them to. */
const policyName: (typeof headers)['rateLimitPolicy'] = 'RateLimit-Policy';
const limitName: (typeof headers)['rateLimit'] = 'RateLimit';

/** Of the rate limit, left to the others who share it. */
const shareOfOthers = 0.25;
/** A shorter pause is over before one has read of it. */
const worthTellingMs = 1_900;

/** Holds many small questions back while the rate limit is short, at most until the deadline. */
export function openPace(io: Io, until: number) {
  let pausedUntil = 0;
  let toldUntil = 0;
  const leftMs = () => Math.min(pausedUntil, until) - io.now();

  async function tell(): Promise<void> {
    if (toldUntil >= pausedUntil || leftMs() < worthTellingMs) return;
    toldUntil = pausedUntil;
    const seconds = Math.ceil(leftMs() / 1_000);
    await note(io, `The rest of the rate limit is left to others; going on in ${seconds} s.`);
  }

  function pause(ms: number): void {
    pausedUntil = Math.max(pausedUntil, io.now() + ms);
  }

  return {
    /** Of an answer. A service without a limit names none. */
    read(headers: Headers): void {
      const [, quota] = /;q=(\d+)/.exec(headers.get(policyName) ?? '') ?? [];
      const [, left, seconds] = /;r=(\d+);t=(\d+)/.exec(headers.get(limitName) ?? '') ?? [];
      if (Number(left) < Number(quota) * shareOfOthers) pause(Number(seconds) * 1_000);
    },
    /** False where the deadline comes first. */
    async ready(): Promise<boolean> {
      await tell();
      while (leftMs() > 0) await setTimeout(leftMs(), undefined, { signal: io.interrupted });
      return pausedUntil <= until;
    },
  };
}
