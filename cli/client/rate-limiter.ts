import { setTimeout } from 'node:timers/promises';
import type { headers } from '../../sdk/contract/headers.ts';
import type { ApiPromise, CallOptions } from '../../sdk/index.ts';
import { note, type Terminal } from '../terminal/terminal.ts';

/* Of the contract, which the type checker holds them to. */
const policyName: (typeof headers)['rateLimitPolicy'] = 'RateLimit-Policy';
const limitName: (typeof headers)['rateLimit'] = 'RateLimit';

/** The share of the rate limit that is left to other clients of the project. */
const reservedShare = 0.25;
/** A shorter pause is over before one has read of it. */
const minReportedMs = 1_900;
/** The pause after a 429 without Retry-After, and while the service cannot be reached. */
const busyMs = 5_000;
const awayMs = 1_000;
/** What is done when the time is over may still be asked for that long. */
const graceMs = 2_000;

/** Sends a read. Undefined where it got no answer, or the deadline comes before it may be sent. */
export type Throttled = <Data>(
  request: (options: CallOptions) => ApiPromise<Data>,
) => Promise<Data | undefined>;

/**
 * Sends many reads within the rate limit and a deadline. A 429, and a service that is away for a
 * while, only hold the next ones back; one that was never there is an error.
 */
export async function openThrottle(term: Terminal, until: number): Promise<Throttled> {
  const { AbortError, ConnectionError, RateLimitError, ServerError, TimeoutError } = await import(
    '../../sdk/index.ts'
  );
  const passing = [ConnectionError, ServerError, TimeoutError];
  const limiter = openRateLimiter(term, until);
  const signal = AbortSignal.any([
    term.interrupted,
    AbortSignal.timeout(Math.max(0, until + graceMs - term.now())),
  ]);
  let wasThere = false;
  function onError(error: unknown): undefined {
    if (term.interrupted.aborted) throw error;
    if (error instanceof AbortError) return;
    if (error instanceof RateLimitError) return limiter.pause(error.retryAfterMs ?? busyMs);
    const isPassing = passing.some((one) => error instanceof one);
    if (!isPassing || (!wasThere && error instanceof ConnectionError)) throw error;
    limiter.pause(awayMs);
  }
  return async (request) => {
    if (!(await limiter.ready())) return undefined;
    const answer = await request({ signal }).withResponse().catch(onError);
    if (answer === undefined) return undefined;
    wasThere = true;
    limiter.read(answer.response.headers);
    return answer.data;
  };
}

/** Holds requests back while the rate limit is short, at most until the deadline. */
function openRateLimiter(term: Terminal, until: number) {
  let pausedUntil = 0;
  let reportedUntil = 0;
  const leftMs = () => Math.min(pausedUntil, until) - term.now();

  async function reportPause(): Promise<void> {
    if (reportedUntil >= pausedUntil || leftMs() < minReportedMs) return;
    reportedUntil = pausedUntil;
    const seconds = Math.ceil(leftMs() / 1_000);
    await note(term, `Pausing for ${seconds} s to leave some of the rate limit to other clients.`);
  }

  function pause(ms: number): undefined {
    pausedUntil = Math.max(pausedUntil, term.now() + ms);
  }

  return {
    pause,
    /** Of an answer. A service without a limit names none. */
    read(headers: Headers): void {
      const [, quota] = /;q=(\d+)/.exec(headers.get(policyName) ?? '') ?? [];
      const [, left, seconds] = /;r=(\d+);t=(\d+)/.exec(headers.get(limitName) ?? '') ?? [];
      if (Number(left) < Number(quota) * reservedShare) pause(Number(seconds) * 1_000);
    },
    /** False where the deadline comes first. */
    async ready(): Promise<boolean> {
      await reportPause();
      while (leftMs() > 0) await setTimeout(leftMs(), undefined, { signal: term.interrupted });
      return pausedUntil <= until && term.now() < until + graceMs;
    },
  };
}
