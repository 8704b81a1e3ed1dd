import type { Answer } from './answer.ts';
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
import { isPassing } from './retry.ts';

const firstWaitMs = 100;
const maxWaitMs = 2_000;

export type WaitOptions = Omit<CallOptions, 'timeoutMs' | 'idempotencyKey'> & {
  /** For the whole wait. Default 60,000; `Infinity` waits on. */
  timeoutMs?: number | undefined;
  /** Called with every status that is seen, the last one included, and waited for. What it throws
   * ends the wait. */
  onStatus?: ((status: IngestStatus) => unknown) | undefined;
};

/**
 * Asks for the status, less and less often, until the work is over or the time is. A look that
 * fails may be followed by one that does not, but a service that was never there is told at once.
 */
export async function waitUntilComplete(
  call: Call,
  memoryId: string,
  { timeoutMs = 60_000, signal, onStatus, headers }: WaitOptions,
): Promise<Answer<IngestStatus>> {
  const deadline = openDeadline(atLeast(1, 'timeoutMs', timeoutMs), signal);
  let last: IngestStatus | undefined;
  let fault: MemoryServiceError | undefined;
  let attempts = 0;
  const onFault = (error: MemoryServiceError) => {
    fault = error;
  };
  const options = { signal: deadline.signal, headers, onFault };
  /** Returns only where another look may succeed. */
  function onFailure(error: MemoryServiceError): undefined {
    const sent = attempts + error.attempts;
    if (error instanceof AbortError && !signal?.aborted) {
      throw new WaitTimeoutError(memoryId, timeoutMs, last, sent, fault);
    }
    if (!isPassing(error) || (!attempts && error instanceof ConnectionError)) {
      throw Object.assign(error, { attempts: sent });
    }
    attempts = sent;
    fault = error;
  }
  try {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 1.5, maxWaitMs)) {
      const look = call('status', { id: memoryId }, options).withResponse();
      const answer = await look.catch(onFailure);
      if (answer) {
        last = answer.data;
        attempts = answer.response.attempts += attempts;
        await onStatus?.(last);
        if (isComplete(answer)) return answer;
      }
      await sleep(answer ? waitMs : Math.max(waitMs, fault?.retryAfterMs ?? 0), deadline.signal);
    }
  } finally {
    deadline.close();
  }
}

/** Throws where there is nothing to wait for any more. */
function isComplete({ data, response: facts }: Answer<IngestStatus>): boolean {
  switch (data.status) {
    case 'processing':
      return false;
    case 'complete':
      return true;
    case 'failed':
      throw new IngestFailedError(data, facts);
    default:
      throw new ServerError(`unknown status ${JSON.stringify(data.status)}`, facts);
  }
}
