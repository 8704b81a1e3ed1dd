import type { Accepted, MemoryClient } from '../../sdk/index.ts';
import { rejectDeletedIngest } from '../client/deleted-replay.ts';
import { printOutcome } from '../commands/wait.ts';
import { printJson, printLine, resilientOutput } from '../terminal/output.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';
import { reportInterrupted, waitForOne } from './waiting.ts';

export type AfterIngest = {
  json?: true | undefined;
  idempotencyKey?: string | undefined;
  wait?: true | undefined;
  timeout: number;
};

/** Tells of a record that is queued: its id and how to go on; with --wait, how it ended. */
export async function reportIngest(
  term: Terminal,
  client: MemoryClient,
  accepted: Accepted,
  { json, idempotencyKey, wait, timeout }: AfterIngest,
): Promise<void> {
  const { memoryId } = accepted;
  const queued = `Queued. See how it ends: memory wait ${memoryId}`;
  if (idempotencyKey !== undefined) await rejectDeletedIngest(term, client, memoryId);
  const out = resilientOutput(term);
  if (!json) await printLine(out.term, memoryId);
  else if (!wait) await printJson(out.term, accepted);
  if (out.hasFailed() || !(json || wait)) await hint(term, queued);
  if (!wait) return out.end();
  const waiting = waitForOne(term, client, memoryId, timeout);
  const outcome = await reportInterrupted(term, waiting, queued);
  if (json) await printOutcome(out.term, json, outcome);
  else if (outcome.error !== null) throw outcome.error;
  else await note(term, 'Complete.');
  out.end(outcome.exitCode);
}
