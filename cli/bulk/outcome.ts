import type { IngestStatus, MemoryServiceError } from '../../sdk/index.ts';
import { exitCodes } from '../errors.ts';
import { printJsonLine, printLine } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { escapeControls, escapeField } from '../terminal/text.ts';
import type { Seen } from './statuses.ts';

/** How a wait for one memory ended. `error` is null when it is complete, or was not asked. */
export type Outcome = {
  memoryId: string;
  status: IngestStatus | null;
  error: MemoryServiceError | null;
  exitCode: number;
};

export async function outcomeOf({ memoryId, state, status }: Seen): Promise<Outcome> {
  const { IngestFailedError, NotFoundError } = await import('../../sdk/index.ts');
  if (state === 'complete') return { memoryId, status, error: null, exitCode: exitCodes.done };
  if (status !== null) {
    const error = new IngestFailedError(status, {});
    return { memoryId, status, error, exitCode: exitCodes.failed };
  }
  const error = new NotFoundError('no memory has this id', { code: 'not_found' });
  return { memoryId, status, error, exitCode: exitCodes.notFound };
}

/** Why one is not complete. Of one that is gone the service does not name the id. */
export function whyIncomplete({ memoryId, exitCode, error }: Outcome): string | null {
  if (error === null || exitCode !== exitCodes.notFound) return error?.message ?? null;
  return `${memoryId}: ${error.message}`;
}

const notAskedError = {
  code: 'wait_timeout',
  message: 'it is processed; how that ended was not asked in time',
};

export async function printOutcome(term: Terminal, json: true | undefined, outcome: Outcome) {
  const { memoryId, exitCode, status, error } = outcome;
  const notAsked = exitCode === exitCodes.notAsked;
  if (json) {
    const { code, message } = error ?? notAskedError;
    const known = status ?? { memoryId, status: 'processing' };
    return printJsonLine(
      term,
      exitCode === exitCodes.notFound || notAsked ? { memoryId, error: { code, message } } : known,
    );
  }
  const unknown = notAsked ? 'not asked' : 'processing';
  const word = exitCode === exitCodes.notFound ? 'not found' : (status?.status ?? unknown);
  const cells = [memoryId, word, ...(status?.errorMessage ? [status.errorMessage] : [])];
  const { isTerminal } = term.stdout;
  return printLine(
    term,
    cells.map(isTerminal ? escapeControls : escapeField).join(isTerminal ? '  ' : '\t'),
  );
}
