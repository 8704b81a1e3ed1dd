import type { ApiResponse } from './api-promise.ts';
import type { Call } from './call.ts';
import type { IngestStatus } from './contract/status.ts';
import { openDeadline, sleep } from './deadline.ts';
import {
  AbortError,
  ConnectionError,
  IngestFailedError,
  type MemoryServiceError,
  ServerError,
  WaitTimeoutError,
} from './errors.ts';
import { atLeast, type CallOptions } from './options.ts';
import { isTransient } from './retry.ts';

const firstWaitMs = 100;
const maxWaitMs = 2_000;

export type WaitOptions = Omit<CallOptions, 'timeoutMs' | 'idempotencyKey'> & {
  /** The timeout of the whole wait in milliseconds. Default 60,000; `Infinity` disables it. */
  timeoutMs?: number | undefined;
  /**
   * Called with every status, including the last. The SDK awaits the callback. An error that the
   * callback throws ends the wait.
   */
  onStatus?: ((status: IngestStatus) => unknown) | undefined;
};

/**
 * Polls the status at increasing intervals until processing is done or the time is up. Transient
 * errors are retried, unless the service has never been reached.
 */
export async function waitUntilComplete(
  call: Call,
  memoryId: string,
  { timeoutMs = 60_000, signal, onStatus, headers }: WaitOptions,
): Promise<ApiResponse<IngestStatus>> {
  const deadline = openDeadline(atLeast(1, 'timeoutMs', timeoutMs), signal);
  let ingestStatus: IngestStatus | undefined;
  let cause: MemoryServiceError | undefined;
  let attempts = 0;
  const onRetry = (error: MemoryServiceError) => {
    cause = error;
  };
  const options = { signal: deadline.signal, headers, onRetry };
  /** Returns if another request may succeed; otherwise throws. */
  const onFailure = (error: MemoryServiceError) => {
    const isFirst = attempts === 0;
    attempts += error.attempts;
    if (error instanceof AbortError && !signal?.aborted) {
      throw new WaitTimeoutError(
        `${memoryId} is not complete after ${timeoutMs} ms; processing continues`,
        { code: 'wait_timeout', memoryId, ingestStatus, attempts, cause },
      );
    }
    if (!isTransient(error) || (isFirst && error instanceof ConnectionError)) {
      throw Object.assign(error, { attempts });
    }
    onRetry(error);
  };
  try {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 1.5, maxWaitMs)) {
      const request = call('status', { id: memoryId }, options).withResponse();
      const result = await request.catch(onFailure);
      if (result) {
        const { data, response } = result;
        ingestStatus = data;
        attempts = response.attempts += attempts;
        await onStatus?.(data);
        const { status, errorMessage } = data;
        if (status === 'complete') return result;
        const facts = { status: response.status, requestId: response.requestId, attempts };
        if (status === 'failed') {
          throw new IngestFailedError(
            `${memoryId} failed: ${errorMessage ?? 'no reason was reported'}`,
            { ...facts, code: 'ingest_failed', ingestStatus },
          );
        }
        if (status !== 'processing') {
          const message = `the service returned an unknown status: ${JSON.stringify(status)}`;
          throw new ServerError(message, facts);
        }
      }
      await sleep(Math.max(waitMs, (!result && cause?.retryAfterMs) || 0), deadline.signal);
    }
  } finally {
    deadline.close();
  }
}
