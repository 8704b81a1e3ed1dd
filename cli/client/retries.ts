import type { MemoryServiceError } from '../../sdk/index.ts';
import { canRedraw, noteStyled, type Terminal } from '../terminal/terminal.ts';
import { capitalized, escapeLine } from '../terminal/text.ts';

/** The fields of the client's attempt event that are used here. */
type Wait = { error: MemoryServiceError | undefined; retryInMs: number | undefined };

/** A shorter wait is over before anyone has read the message. */
const minReportedMs = 1_900;

/** Explains the pause while the client waits to retry. */
export function reportRetries(term: Terminal): (event: Wait) => void {
  let reportedUntil = 0;
  return ({ error, retryInMs = 0 }) => {
    // If several concurrent requests wait, only one is reported.
    if (retryInMs < minReportedMs || term.now() < reportedUntil) return;
    reportedUntil = term.now() + retryInMs;
    // A progress line may be on the terminal.
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
