import type { Accepted, MemoryClient } from '../../sdk/index.ts';
import { rejectDeletedIngest } from '../client/deleted-replay.ts';
import { exitCodes } from '../errors.ts';
import { printJson, printLine, resilientOutput } from '../terminal/output.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';
import { hintIfInterrupted, type Outcome, printOutcome, waitForAll } from './wait.ts';

export type AfterIngest = {
  json?: true | undefined;
  idempotencyKey?: string | undefined;
  wait?: true | undefined;
  timeout: number;
};

/** Prints the id of a queued record and the next command; with --wait, the result. */
export async function reportIngest(
  term: Terminal,
  client: MemoryClient,
  accepted: Accepted,
  { json, idempotencyKey, wait, timeout }: AfterIngest,
): Promise<void> {
  const { memoryId } = accepted;
  const queued = `Queued. To wait for the result: memory wait ${memoryId}`;
  if (idempotencyKey !== undefined) await rejectDeletedIngest(term, client, memoryId);
  const out = resilientOutput(term);
  if (!json) await printLine(out.term, memoryId);
  else if (!wait) await printJson(out.term, accepted);
  if (out.hasFailed() || !(json || wait)) await hint(term, queued);
  if (!wait) return out.end();
  const report = async (outcome: Outcome) => {
    if (json) return printOutcome(out.term, json, outcome);
    if (outcome.error !== null) throw outcome.error;
    if (outcome.exitCode === exitCodes.done) await note(term, 'Complete.');
  };
  const waiting = waitForAll(term, client, [memoryId], timeout, report);
  out.end(await hintIfInterrupted(term, waiting, queued));
}
