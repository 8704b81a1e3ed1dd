import { setTimeout } from 'node:timers/promises';
import type { Terminal } from '../terminal/terminal.ts';
import { reportRetries } from './connect.ts';

const busyMs = 5_000;
/** How long after the last response the service may be away, for example while it restarts. */
const maxAwayMs = 60_000;
/** A timer with a longer delay fires immediately. */
const maxTimerMs = 2 ** 31 - 1;

/** Returns a function that repeats a request while the service returns 429 or restarts. */
export async function patientRequests(term: Terminal) {
  const { ConnectionError, RateLimitError, ServerError } = await import('../../sdk/index.ts');
  const report = reportRetries(term);
  let reachedAt = Number.NEGATIVE_INFINITY;

  return async function request<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        const answer = await send();
        reachedAt = term.clock();
        return answer;
      } catch (error) {
        const isAway = error instanceof ConnectionError || error instanceof ServerError;
        const wasThere = term.clock() - reachedAt < maxAwayMs;
        if (!(error instanceof RateLimitError || (isAway && wasThere))) throw error;
        const retryInMs = Math.min(error.retryAfterMs ?? busyMs, maxTimerMs);
        report({ error, retryInMs });
        await setTimeout(retryInMs, undefined, { signal: term.interrupted });
      }
    }
  };
}
