import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import type { IngestStatus } from './contract/status.ts';
import { openDeadline, sleep } from './deadline.ts';
import { AbortError, IngestFailedError, ServerError, WaitTimeoutError } from './errors.ts';
import { atLeast, type CallOptions } from './options.ts';

const firstWaitMs = 100;
const maxWaitMs = 2_000;

export type WaitOptions = Omit<CallOptions, 'timeoutMs' | 'idempotencyKey'> & {
  /** For the whole wait. Default 60,000; `Infinity` waits on. */
  timeoutMs?: number | undefined;
  /** Called with every status that is seen, the last one included. What it throws ends the wait. */
  onStatus?: ((status: IngestStatus) => void) | undefined;
};

/** Asks for the status, less and less often, until the work is over or the time is. */
export async function waitUntilComplete(
  call: Call,
  memoryId: string,
  { timeoutMs = 60_000, signal, onStatus, headers }: WaitOptions,
): Promise<Answer<IngestStatus>> {
  const deadline = openDeadline(atLeast(1, 'timeoutMs', timeoutMs), signal);
  const options = { signal: deadline.signal, headers };
  let last: IngestStatus | undefined;
  let attempts = 0;
  try {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 1.5, maxWaitMs)) {
      const answer = await call('status', { id: memoryId }, options).withResponse();
      last = answer.data;
      attempts += answer.response.attempts;
      onStatus?.(last);
      if (isComplete(answer, attempts)) return answer;
      await sleep(waitMs, deadline.signal);
    }
  } catch (error) {
    if (!(error instanceof AbortError) || signal?.aborted) throw error;
    throw new WaitTimeoutError(memoryId, timeoutMs, last, attempts + error.attempts);
  } finally {
    deadline.close();
  }
}

/** Throws where there is nothing to wait for any more. */
function isComplete({ data, response }: Answer<IngestStatus>, attempts: number): boolean {
  const facts = { status: response.status, requestId: response.requestId, attempts };
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
