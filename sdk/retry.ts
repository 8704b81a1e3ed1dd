import type { Answer } from './answer.ts';
import type { OperationName } from './contract/operations.ts';
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
      request.onFault?.(error);
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
  // A write without a key may have happened although its answer was lost.
  const mayRepeat = request.method === 'GET' || request.idempotencyKey;
  if (number > maxRetries || !mayRepeat || !isPassing(error, request.name)) return undefined;
  const backoffMs = Math.min(retryDelayMs * 2 ** (number - 1), maxBackoffMs);
  const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs * (1 - Math.random() / 4));
  return waitMs > maxWaitMs ? undefined : waitMs;
}

/** Whether the same request may well succeed a little later. */
export function isPassing(error: MemoryServiceError, name?: OperationName): boolean {
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
  return async (
    { status, requestId }: Pick<AttemptEvent, 'status' | 'requestId'>,
    error?: MemoryServiceError,
    retryInMs?: number,
  ): Promise<void> => {
    try {
      await onAttempt?.({
        operation,
        method,
        url,
        attempt,
        durationMs: performance.now() - startedAt,
        status,
        requestId,
        error,
        retryInMs,
      });
    } catch {
      // A log that fails must not turn a write that happened into an error, nor end the process.
    }
  };
}
