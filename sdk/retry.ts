import type { ApiResponse } from './api-promise.ts';
import type { OperationName } from './contract/operations.ts';
import { sleep } from './deadline.ts';
import { ConnectionError, type MemoryServiceError, TimeoutError } from './errors.ts';
import type { AttemptEvent, Settings } from './options.ts';
import { type ApiRequest, aborted, send } from './transport.ts';

const maxBackoffMs = 8_000;
/** If the next wait would be longer than this, the call fails immediately. */
const maxWaitMs = 60_000;

/** Runs attempts until one succeeds, one fails permanently, or the retries are used up. */
export async function withRetries(
  request: ApiRequest,
  settings: Settings,
): Promise<ApiResponse<unknown>> {
  const { operation, method, url, signal } = request;
  const { maxRetries, retryDelayMs } = settings;
  // A write without a key is not retried: it may have succeeded even though its response was lost.
  const mayRepeat = method === 'GET' || request.idempotencyKey;
  for (let attempt = 1; ; attempt += 1) {
    if (signal?.aborted) throw aborted(request, attempt - 1);
    const startedAt = performance.now();
    const outcome = await send(settings.fetch, request, attempt).catch(
      (error: MemoryServiceError) => error,
    );
    const error = 'data' in outcome ? undefined : outcome;
    const { status, requestId } = 'data' in outcome ? outcome.response : outcome;
    let retryInMs: number | undefined;
    if (error && attempt <= maxRetries && mayRepeat && isTransient(error, operation)) {
      const backoffMs = Math.min(retryDelayMs * 2 ** (attempt - 1), maxBackoffMs);
      const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs * (1 - Math.random() / 4));
      if (waitMs <= maxWaitMs) retryInMs = waitMs;
    }
    const durationMs = performance.now() - startedAt;
    report(settings, {
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
    if ('data' in outcome) return outcome;
    if (retryInMs === undefined) throw outcome;
    request.onRetry?.(outcome);
    await sleep(retryInMs, signal);
  }
}

/** Whether the same request may succeed later. */
export function isTransient(error: MemoryServiceError, operation?: OperationName): boolean {
  if (error instanceof ConnectionError) return true;
  // A health check reports a failing service instead of retrying until the service recovers.
  if (operation === 'health') return false;
  const { status = 0 } = error;
  return error instanceof TimeoutError || [409, 429].includes(status) || status >= 500;
}

/** A failing callback must neither fail a successful write nor terminate the process. */
async function report({ onAttempt }: Settings, event: AttemptEvent): Promise<void> {
  try {
    await onAttempt?.(event);
  } catch {}
}
