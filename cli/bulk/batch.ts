import type { IngestRecord, MemoryClient, RecordType } from '../../sdk/index.ts';
import { exitCodes } from '../client/errors.ts';
import { definedOnly } from '../options.ts';
import { startProgress } from '../terminal/progress.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { memoriesOf, quoted } from '../terminal/text.ts';
import { tooLarge, usualBodyBytes } from './body-limit.ts';
import { type Chunk, chunkLines } from './chunks.ts';
import type { BatchInput } from './input.ts';
import { type BadLine, type Entry, pairOf, userIdOf } from './records.ts';
import { openReport, type Report, shownFailures } from './report.ts';
import { sendLines } from './send-lines.ts';
import type { Awaited } from './statuses.ts';
import { waitForAll } from './wait.ts';
import { acceptedAll, reportInterrupted, whyIncomplete } from './waiting.ts';

export type BatchOptions = {
  type?: RecordType | undefined;
  json?: true | undefined;
  idempotencyKey?: string | undefined;
  errorsOut?: string | undefined;
  wait?: true | undefined;
  timeout: number;
};

/** What was accepted: now, or by an earlier run. The memories are only kept to be waited for. */
type Tally = { accepted: number; replayed: number; awaited: Map<string, Awaited> };

/** A record, without what stands around it in a body. */
const usualItemBytes = usualBodyBytes - '{"items":[]}'.length;

/** Ingests every line of the input. */
export async function runBatch(
  term: Terminal,
  client: MemoryClient,
  input: BatchInput,
  options: BatchOptions,
): Promise<void> {
  const { type } = options;
  const tally: Tally = { accepted: 0, replayed: 0, awaited: new Map() };
  const keyOf = (place: string, entries: Entry[]) => keyOfChunk(place, entries, options);
  const report = await sendLines(term, input, options, {
    chunks: { type, keyOf },
    namesIn: pairsIn,
    partsOf: (chunk) => (options.idempotencyKey === undefined ? apart(chunk) : [chunk]),
    post: (items, call) => client.ingest.batch({ items: items as IngestRecord[] }, call),
    count({ accepted, items }, replayed, entries) {
      tally[replayed ? 'replayed' : 'accepted'] += accepted;
      for (const { index, memoryId } of options.wait ? items : []) {
        tally.awaited.set(memoryId, { memoryId, userId: userIdOf(entries[index]) });
      }
      return accepted;
    },
  });
  await conclude(term, client, report, tally, options);
}

/** Checks every line as a service with the usual limits would, and sends nothing. */
export async function dryRun(
  term: Terminal,
  input: BatchInput,
  options: BatchOptions,
): Promise<void> {
  const { sentence, validateRecord } = await import('../../sdk/contract/validate.ts');
  const { type, json, errorsOut } = options;
  const progress = startProgress(term, input.totalBytes);
  const report = openReport(term, { json, errorsOut, unit: input.unit, progress });
  let valid = 0;
  const check = ({ line, text, item }: Entry): BadLine[] => {
    if (Buffer.byteLength(text) > usualItemBytes) {
      return [{ line, error: 'payload_too_large', message: tooLarge, text }];
    }
    const [problem] = validateRecord(item);
    return problem ? [{ line, error: 'invalid_request', message: sentence(problem), text }] : [];
  };
  const unkeyed = { type, keyOf: () => undefined };
  for await (const { entries, bad } of chunkLines(input.lines, unkeyed)) {
    const invalid = entries.flatMap(check);
    valid += entries.length - invalid.length;
    for (const one of [...bad, ...invalid].sort((a, b) => a.line - b.line)) await report.bad(one);
  }
  await report.close();
  await report.summary({ valid });
  report.end();
}

async function conclude(
  term: Terminal,
  client: MemoryClient,
  report: Report,
  { accepted, replayed, awaited }: Tally,
  { wait, timeout, json, errorsOut }: BatchOptions,
): Promise<void> {
  const ended: Record<number, number> = {};
  let exitCode: number = exitCodes.done;
  let unfinished = 0;
  const sent = accepted + replayed;
  if (wait) {
    const waiting = waitForAll(term, client, awaited.values(), timeout, async (outcome) => {
      ended[outcome.exitCode] = (ended[outcome.exitCode] ?? 0) + 1;
      const why = whyIncomplete(outcome);
      if (why === null) return;
      unfinished += 1;
      if (unfinished <= shownFailures) await note(term, why);
    });
    const told = acceptedAll('record', sent, report.failed());
    exitCode = await reportInterrupted(term, waiting, told);
    if (unfinished > shownFailures) await note(term, `and ${unfinished - shownFailures} more`);
  }
  const { [exitCodes.notFound]: notFound, [exitCodes.notAsked]: notAsked } = ended;
  const waited = {
    complete: ended[exitCodes.done] ?? 0,
    stillProcessing: ended[exitCodes.processing] ?? 0,
    processingFailed: ended[exitCodes.failed] ?? 0,
    ...definedOnly({ notFound, notAsked }),
  };
  await report.summary({ accepted, replayed, ...(wait ? waited : {}) });
  if (wait && !json && awaited.size < sent) {
    const memories = memoriesOf(awaited.size);
    await note(
      term,
      `${sent} records are ${memories}: the last of one externalId replaces the others.`,
    );
  }
  if (report.failed() > 0 && !json) await note(term, howToCorrect(errorsOut));
  report.end(exitCode);
}

/** The whole file once more, with a line corrected, would double the lines around that line. */
function howToCorrect(errorsOut: string | undefined): string {
  if (errorsOut === undefined) {
    return 'Correct those lines in a file of their own, and ingest that file, not this one again.';
  }
  return `Take those lines: jq -r .text ${quoted(errorsOut)} > corrected.jsonl
Correct them there, and ingest that file, not this one again.`;
}

function pairsIn({ entries }: Chunk): Set<string> {
  return new Set(entries.map(pairOf).filter((pair) => pair !== undefined));
}

/**
 * What has an externalId is not doubled by being sent again, and may have been changed or deleted
 * since: a replay would leave it so. Its part of a chunk goes under a new key.
 */
function apart(chunk: Chunk): Chunk[] {
  const { bare, named } = Object.groupBy(chunk.entries, (entry) =>
    isBare(entry) ? 'bare' : 'named',
  );
  return [
    { ...chunk, entries: bare ?? [] },
    { ...chunk, entries: named ?? [], key: undefined },
  ];
}

function isBare(entry: Entry): boolean {
  return pairOf(entry) === undefined;
}

/** The same lines at the same place give the same key, so sending them again is a replay. */
function keyOfChunk(
  place: string,
  entries: Entry[],
  { type, idempotencyKey }: BatchOptions,
): string {
  if (idempotencyKey !== undefined) return `${idempotencyKey}:${place}`;
  const hash = new Bun.CryptoHasher('sha256').update(`${place}\n${type ?? ''}\n`);
  for (const { text } of entries.filter(isBare)) hash.update(`${text}\n`);
  return `batch-${hash.digest('hex')}`;
}
