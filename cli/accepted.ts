import type { Accepted, MemoryClient } from '../sdk/index.ts';
import { printOutcome } from './commands/wait.ts';
import { refuseDeletedIngest } from './deleted.ts';
import { hint, type Io, note } from './io.ts';
import { lastingOutput, printJson, printLine } from './output.ts';
import { tellInterrupted, waitForOne } from './waiting.ts';

export type AfterIngest = {
  json?: true | undefined;
  idempotencyKey?: string | undefined;
  wait?: true | undefined;
  timeout: number;
};

/** Tells of a record that is queued: its id and how to go on; with --wait, how it ended. */
export async function tellAccepted(
  io: Io,
  client: MemoryClient,
  accepted: Accepted,
  { json, idempotencyKey, wait, timeout }: AfterIngest,
): Promise<void> {
  const { memoryId } = accepted;
  const queued = `Queued. See how it ends: memory wait ${memoryId}`;
  if (idempotencyKey !== undefined) await refuseDeletedIngest(io, client, memoryId);
  const out = lastingOutput(io);
  if (!json) await printLine(out.io, memoryId);
  else if (!wait) await printJson(out.io, accepted);
  if (out.hasFailed() || !(json || wait)) await hint(io, queued);
  if (!wait) return out.end();
  const waiting = waitForOne(io, client, memoryId, timeout);
  const outcome = await tellInterrupted(io, waiting, queued);
  if (json) await printOutcome(out.io, json, outcome);
  else if (outcome.error !== null) throw outcome.error;
  else await note(io, 'Complete.');
  out.end(outcome.exitCode);
}
