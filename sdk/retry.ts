import type { Answer } from './answer.ts';
import { sleep } from './deadline.ts';
import { AbortError, ConnectionError, MemoryServiceError, TimeoutError } from './errors.ts';
import type { AttemptEvent, Settings } from './options.ts';
import type { Outgoing } from './transport.ts';

const maxBackoffMs = 8_000;
/** Who must wait longer than this hears so at once, and can plan. */
const maxWaitMs = 60_000;

/** Runs attempts until one succeeds, one fails for good, or the retries are used up. */
export async function withRetries(
  attempt: (number: number) => Promise<Answer<unknown>>,
  request: Outgoing,
  settings: Settings,
): Promise<Answer<unknown>> {
  const { signal, idempotencyKey } = request;
  for (let number = 1; ; number += 1) {
    if (signal?.aborted) {
      throw new AbortError({ attempts: number - 1, idempotencyKey, cause: signal.reason });
    }
    const report = reporter(request, settings, number);
    try {
      const answer = await attempt(number);
      report(answer.response);
      return answer;
    } catch (error) {
      if (!(error instanceof MemoryServiceError)) throw error;
      const retryInMs = waitBeforeNext(error, number, request, settings);
      report(error, error, retryInMs);
      if (retryInMs === undefined) throw error;
      await sleep(retryInMs, signal);
    }
  }
}

/** In milliseconds; undefined where another attempt is not allowed or has no hope. */
function waitBeforeNext(
  error: MemoryServiceError,
  number: number,
  request: Outgoing,
  { maxRetries, retryDelayMs }: Settings,
): number | undefined {
  if (number > maxRetries || !mayRepeat(request) || !isPassing(error, request)) return undefined;
  const backoffMs = Math.min(retryDelayMs * 2 ** (number - 1), maxBackoffMs);
  const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs * (1 - Math.random() / 4));
  return waitMs > maxWaitMs ? undefined : waitMs;
}

/** A write without a key may have happened although its answer was lost. */
function mayRepeat({ method, idempotencyKey }: Outgoing): boolean {
  return method === 'GET' || idempotencyKey !== undefined;
}

/** Whether the same request may well succeed a little later. */
function isPassing(error: MemoryServiceError, { name }: Outgoing): boolean {
  if (error instanceof ConnectionError) return true;
  // Who asks how the service is wants to know, not to wait until it is better.
  if (name === 'health') return false;
  const { status = 0 } = error;
  return error instanceof TimeoutError || [409, 429].includes(status) || status >= 500;
}

function reporter(
  { name: operation, method, url }: Outgoing,
  { onAttempt }: Settings,
  attempt: number,
) {
  const startedAt = performance.now();
  return (
    { status, requestId }: Pick<AttemptEvent, 'status' | 'requestId'>,
    error?: MemoryServiceError,
    retryInMs?: number,
  ): void => {
    const durationMs = performance.now() - startedAt;
    try {
      onAttempt?.({
        operation,
        method,
        url,
        attempt,
        durationMs,
        status,
        requestId,
        error,
        retryInMs,
      });
    } catch {
      // A log that fails must not turn a write that happened into an error.
    }
  };
}
