import type { ApiResponse } from './api-promise.ts';
import type { OperationName } from './contract/operations.ts';
import { sleep } from './deadline.ts';
import { AbortError, ConnectionError, MemoryServiceError, TimeoutError } from './errors.ts';
import type { AttemptEvent, Settings } from './options.ts';
import type { ApiRequest } from './transport.ts';

const maxBackoffMs = 8_000;
/** If the next wait would be longer than this, the call fails immediately. */
const maxWaitMs = 60_000;

/** Runs attempts until one succeeds, one fails permanently, or the retries are used up. */
export async function withRetries(
  attempt: (number: number) => Promise<ApiResponse<unknown>>,
  request: ApiRequest,
  settings: Settings,
): Promise<ApiResponse<unknown>> {
  const { signal, idempotencyKey } = request;
  for (let number = 1; ; number += 1) {
    if (signal?.aborted) {
      throw new AbortError({ attempts: number - 1, idempotencyKey, cause: signal.reason });
    }
    const report = reporter(request, settings, number);
    try {
      const response = await attempt(number);
      report(response.response);
      return response;
    } catch (error) {
      if (!(error instanceof MemoryServiceError)) throw error;
      const retryInMs = waitBeforeNext(error, number, request, settings);
      report(error, error, retryInMs);
      if (retryInMs === undefined) throw error;
      request.onRetry?.(error);
      await sleep(retryInMs, signal);
    }
  }
}

/** Returns the delay before the next attempt in milliseconds, or undefined to stop retrying. */
function waitBeforeNext(
  error: MemoryServiceError,
  number: number,
  request: ApiRequest,
  { maxRetries, retryDelayMs }: Settings,
): number | undefined {
  // A write without a key is not retried: it may have succeeded even though its response was lost.
  const mayRepeat = request.method === 'GET' || request.idempotencyKey;
  if (number > maxRetries || !mayRepeat || !isTransient(error, request.name)) return undefined;
  const backoffMs = Math.min(retryDelayMs * 2 ** (number - 1), maxBackoffMs);
  const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs * (1 - Math.random() / 4));
  return waitMs > maxWaitMs ? undefined : waitMs;
}

/** Whether the same request may succeed later. */
export function isTransient(error: MemoryServiceError, name?: OperationName): boolean {
  if (error instanceof ConnectionError) return true;
  // A health check reports a failing service instead of retrying until the service recovers.
  if (name === 'health') return false;
  const { status = 0 } = error;
  return error instanceof TimeoutError || [409, 429].includes(status) || status >= 500;
}

function reporter(
  { name: operation, method, url }: ApiRequest,
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
      // A failing callback must neither turn a successful write into an error nor terminate the
      // process.
    }
  };
}
