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
  let last: IngestStatus | undefined;
  let lastFailure: MemoryServiceError | undefined;
  let attempts = 0;
  const onRetry = (error: MemoryServiceError) => {
    lastFailure = error;
  };
  const options = { signal: deadline.signal, headers, onRetry };
  /** Returns if another request may succeed; otherwise throws. */
  function onFailure(error: MemoryServiceError): undefined {
    const sent = attempts + error.attempts;
    if (error instanceof AbortError && !signal?.aborted) {
      throw new WaitTimeoutError(memoryId, timeoutMs, last, sent, lastFailure);
    }
    if (!isTransient(error) || (!attempts && error instanceof ConnectionError)) {
      throw Object.assign(error, { attempts: sent });
    }
    attempts = sent;
    lastFailure = error;
  }
  try {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 1.5, maxWaitMs)) {
      const request = call('status', { id: memoryId }, options).withResponse();
      const response = await request.catch(onFailure);
      if (response) {
        last = response.data;
        attempts = response.response.attempts += attempts;
        await onStatus?.(last);
        if (isComplete(response)) return response;
      }
      await sleep(
        response ? waitMs : Math.max(waitMs, lastFailure?.retryAfterMs ?? 0),
        deadline.signal,
      );
    }
  } finally {
    deadline.close();
  }
}

/** Throws if processing failed. */
function isComplete({ data, response: facts }: ApiResponse<IngestStatus>): boolean {
  const { status } = data;
  if (status === 'failed') throw new IngestFailedError(data, facts);
  if (status === 'complete' || status === 'processing') return status === 'complete';
  throw new ServerError(`the service returned an unknown status: ${JSON.stringify(status)}`, facts);
}
