import type { MemoryServiceError } from '../../sdk/index.ts';
import { canRedraw, noteStyled, type Terminal } from '../terminal/terminal.ts';
import { capitalized, escapeLine } from '../terminal/text.ts';

/** What an attempt of the client ended with, as far as it matters here. */
type Wait = { error: MemoryServiceError | undefined; retryInMs: number | undefined };

/** A shorter wait is over before one has read of it. */
const minReportedMs = 1_900;

/** Says why nothing happens while the client waits to try again. */
export function reportRetries(term: Terminal): (event: Wait) => void {
  let reportedUntil = 0;
  return ({ error, retryInMs = 0 }) => {
    // Of concurrent requests that wait, one is reported.
    if (retryInMs < minReportedMs || term.now() < reportedUntil) return;
    reportedUntil = term.now() + retryInMs;
    void noteStyled(term, waitLine(term, error, retryInMs));
  };
}

function waitLine(term: Terminal, error: MemoryServiceError | undefined, waitMs: number): string {
  // A progress line may stand there.
  const clear = canRedraw(term) ? '\r\x1b[K' : '';
  return `${clear}${reasonOf(error)}; trying again in ${Math.ceil(waitMs / 1000)} s.`;
}

function reasonOf(error: MemoryServiceError | undefined): string {
  const { status, code, message = '' } = error ?? {};
  if (status === undefined) return 'No answer';
  if (status !== 429) return `The service cannot answer yet (${status})`;
  if (code !== 'rate_limited') return 'Too many requests (429)';
  // Of requests or of records that wait; when to try again is said here.
  return capitalized(escapeLine(message.replace(/; try again.*$/, '')));
}
