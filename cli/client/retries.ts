import type { MemoryServiceError } from '../../sdk/index.ts';
import { canRedraw, noteStyled, type Terminal } from '../terminal/terminal.ts';
import { capitalized, escapeLine } from '../terminal/text.ts';

/** The fields that are used of the client's attempt event. */
type Wait = { error: MemoryServiceError | undefined; retryInMs: number | undefined };

/** The shortest wait to report. Shorter ones end before the message can be read. */
const minReportedMs = 1_900;

/** Reports the wait before the client retries a request. */
export function reportRetries(term: Terminal): (event: Wait) => void {
  let reportedUntil = 0;
  return ({ error, retryInMs = 0 }) => {
    // If several concurrent requests wait, only one is reported.
    if (retryInMs < minReportedMs || term.now() < reportedUntil) return;
    reportedUntil = term.now() + retryInMs;
    // Clears the progress line, if any.
    const clear = canRedraw(term) ? '\r\x1b[K' : '';
    const seconds = Math.ceil(retryInMs / 1000);
    void noteStyled(term, `${clear}${reasonOf(error)}; retrying in ${seconds} s.`);
  };
}

function reasonOf(error: MemoryServiceError | undefined): string {
  const { status, code, message = '' } = error ?? {};
  if (status === undefined) return 'No response';
  if (status !== 429) return `The service returned ${status}`;
  if (code !== 'rate_limited') return 'Too many requests (429)';
  return capitalized(escapeLine(message.replace(/; try again.*$/, '')));
}
