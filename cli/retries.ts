import { canRedraw, type Io, note } from './io.ts';

/** What an attempt of the client ended with, as far as it matters here. */
type Wait = { status: number | undefined; retryInMs: number | undefined };

/** A shorter wait is over before one has read of it. */
const worthTellingMs = 1_900;

/** Says why nothing happens while the client waits to try again. */
export function tellWaits(io: Io): (event: Wait) => void {
  let toldUntil = 0;
  return ({ status, retryInMs = 0 }) => {
    // Of requests that wait side by side, one is told.
    if (retryInMs < worthTellingMs || io.now() < toldUntil) return;
    toldUntil = io.now() + retryInMs;
    void note(io, waitLine(io, status, retryInMs));
  };
}

function waitLine(io: Io, status: number | undefined, waitMs: number): string {
  const why =
    status === 429
      ? 'Rate limit reached'
      : status === undefined
        ? 'No answer'
        : `The service cannot answer yet (${status})`;
  // A progress line may stand there.
  const clear = canRedraw(io) ? '\r\x1b[K' : '';
  return `${clear}${why}; trying again in ${Math.ceil(waitMs / 1000)} s.`;
}
