import type { MemoryClient, RecordType } from '../../sdk/index.ts';
import { ExitWith, exitCodes } from '../failure.ts';
import { type Io, note } from '../io.ts';
import { waitForAll } from '../waiting.ts';
import { type Chunk, chunkLines } from './chunks.ts';
import type { BatchInput } from './open.ts';
import { inParallel } from './parallel.ts';
import { type Progress, startProgress } from './progress.ts';
import { type Entry, pairOf } from './records.ts';
import { openReport, type Report } from './report.ts';
import { sender, type Tally } from './send.ts';

export type BatchOptions = {
  type?: RecordType | undefined;
  json?: true | undefined;
  idempotencyKey?: string | undefined;
  errorsOut?: string | undefined;
  wait?: true | undefined;
  timeout: number;
};

const requestsAtOnce = 4;
const goOn = 'Run the same command again to go on: what is done is not done twice.';

/** Ingests every line of the input. Bad ones are reported and do not stop the rest. */
export async function runBatch(
  io: Io,
  client: MemoryClient,
  input: BatchInput,
  options: BatchOptions,
): Promise<void> {
  const progress = startProgress(io, input.totalBytes);
  const report = openReport(io, reportOptions(input, options, progress));
  const tally: Tally = { accepted: 0, replayed: 0, memoryIds: options.wait ? new Set() : null };
  const chunks = chunkLines(input.lines, {
    type: options.type,
    idempotencyKey: options.idempotencyKey,
    onBad: report.bad,
  });
  try {
    const send = await sender(io, client, report, tally);
    await inParallel(chunks, requestsAtOnce, pairsOf, async (chunk) => {
      await send(chunk);
      await progress.show(tally.accepted + tally.replayed + report.failed(), chunk.end);
    });
  } catch (error) {
    await report.close();
    const done = tally.accepted + tally.replayed;
    await note(io, `Stopped after ${done} records. ${goOn}`);
    throw error;
  }
  await report.close();
  await conclude(io, client, report, tally, options);
}

/** Checks every line as the service would, and sends nothing. */
export async function dryRun(io: Io, input: BatchInput, options: BatchOptions): Promise<void> {
  const { sentence, validateRecord } = await import('../../sdk/contract/validate.ts');
  const report = openReport(io, reportOptions(input, options, startProgress(io, input.totalBytes)));
  const { type } = options;
  let valid = 0;
  const check = async ({ line, text, item }: Entry) => {
    const [problem] = validateRecord(item);
    if (problem === undefined) valid += 1;
    else await report.bad({ line, error: 'invalid_request', message: sentence(problem), text });
  };
  const chunks = chunkLines(input.lines, { type, idempotencyKey: '', onBad: report.bad });
  for await (const { entries } of chunks) for (const entry of entries) await check(entry);
  await report.close();
  await report.summary({ valid });
  if (report.failed() > 0) throw new ExitWith(exitCodes.failed);
}

async function conclude(
  io: Io,
  client: MemoryClient,
  report: Report,
  { accepted, replayed, memoryIds }: Tally,
  { wait, timeout }: BatchOptions,
): Promise<void> {
  const ended: Record<number, number> = {};
  let exitCode: number = exitCodes.done;
  if (wait && memoryIds !== null) {
    exitCode = await waitForAll(io, client, memoryIds, timeout, async (outcome) => {
      ended[outcome.exitCode] = (ended[outcome.exitCode] ?? 0) + 1;
      if (outcome.error !== null) await note(io, outcome.error.message);
    });
  }
  const waited = {
    complete: ended[exitCodes.done] ?? 0,
    stillProcessing: ended[exitCodes.processing] ?? 0,
    processingFailed: ended[exitCodes.failed] ?? 0,
  };
  await report.summary({ accepted, replayed, ...(wait ? waited : {}) });
  if (report.failed() > 0) throw new ExitWith(exitCodes.failed);
  if (exitCode !== exitCodes.done) throw new ExitWith(exitCode);
}

function reportOptions({ unit }: BatchInput, options: BatchOptions, progress: Progress) {
  return { json: options.json, errorsOut: options.errorsOut, unit, progress };
}

function pairsOf({ entries }: Chunk): Set<string> {
  return new Set(entries.map(pairOf).filter((pair) => pair !== undefined));
}
