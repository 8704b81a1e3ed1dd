import type { IngestRecord, Memory, MemoryClient, RecordType } from '../../sdk/index.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { memoriesOf, quoted } from '../terminal/text.ts';
import { apart, chunkLines, keyOfChunk } from './chunks.ts';
import type { BatchInput } from './input.ts';
import { runPipeline } from './pipeline.ts';
import {
  type BadLine,
  type Entry,
  idOf,
  isExported,
  pairOf,
  problemsOf,
  type Unit,
} from './records.ts';
import { openReport } from './report.ts';
import { chunkSender } from './send.ts';
import { type BulkOptions, waitAndCount } from './wait.ts';

type BatchOptions = BulkOptions & { type?: RecordType | undefined };
/** `otherFormat` is a hint that is printed if no line is in the format of `memory export`. */
type ImportOptions = Omit<BulkOptions, 'timeout'> & { otherFormat?: string };

/** The default body limit of the service. A dry run assumes this limit. */
export const usualBodyBytes = 5 * 1024 * 1024;
export const tooLarge = 'is larger than 5 MiB, the default limit of the service';

export async function runBatch(
  term: Terminal,
  client: MemoryClient,
  input: BatchInput,
  options: BatchOptions,
): Promise<void> {
  const { type, idempotencyKey } = options;
  const { unit } = input;
  const report = reportFor(term, input, options);
  const counts = { accepted: 0, replayed: 0 };
  // Filled only for --wait.
  const awaited = new Set<string>();
  const send = await chunkSender(term, {
    unit,
    post: (items, call) => client.ingest.batch({ items: items as IngestRecord[] }, call),
    count({ accepted, items }, isReplay) {
      counts[isReplay ? 'replayed' : 'accepted'] += accepted;
      for (const { memoryId } of options.wait ? items : []) awaited.add(memoryId);
      return accepted;
    },
  });
  const keyOf = (place: string, entries: Entry[]) => keyOfChunk(place, entries, options);
  await runPipeline(term, report, {
    jobs: chunkLines(input.lines, { type, keyOf }),
    namesIn: ({ entries }) => namesOf(entries, [pairOf]),
    work: (chunk) => send(chunk, idempotencyKey === undefined ? apart(chunk) : [chunk]),
    unit: 'records',
  });
  const failed = report.failed();
  const { waited, exitCode } = await waitAndCount(term, client, [...awaited], {
    ...options,
    accepted: { what: 'record', count: counts.accepted + counts.replayed },
  });
  await report.summary({ ...counts, ...waited });
  const sent = { ...counts, failed, memories: awaited.size };
  const remarks = options.json ? [] : remarksOn(sent, unit, options);
  for (const remark of remarks) await note(term, remark);
  report.end(exitCode);
}

/** Validates every line against the default limits of the service and sends nothing. */
export async function dryRun(
  term: Terminal,
  input: BatchInput,
  options: BatchOptions,
): Promise<void> {
  const { sentence, validateRecord } = await import('../../sdk/contract/validate.ts');
  const report = reportFor(term, input, options);
  const check = ({ line, text, item }: Entry): BadLine[] => {
    if (Buffer.byteLength(`{"items":[${text}]}`) > usualBodyBytes) {
      return [{ line, error: 'payload_too_large', message: tooLarge, text }];
    }
    const [problem] = validateRecord(item);
    return problem ? [{ line, error: 'invalid_request', message: sentence(problem), text }] : [];
  };
  await runPipeline(term, report, {
    jobs: chunkLines(input.lines, { type: options.type, keyOf: () => undefined }),
    async work({ entries, bad }) {
      const invalid = entries.flatMap(check);
      const problems = problemsOf(input.unit, [...bad, ...invalid]);
      return { done: entries.length - invalid.length, problems };
    },
  });
  await report.summary({ valid: report.done() });
  report.end();
}

/**
 * Imports every line of the input. Memories have their own ids, so a second run skips existing
 * memories. Idempotency keys are not derived from the content: such a key would also skip a memory
 * that was deleted after the first run, but an import must restore this memory.
 */
export async function runImport(
  term: Terminal,
  client: MemoryClient,
  input: BatchInput,
  options: ImportOptions,
): Promise<void> {
  const { idempotencyKey, otherFormat } = options;
  const counts = { imported: 0, skipped: 0 };
  let hasExported = false;
  const report = reportFor(term, input, options);
  const send = await chunkSender(term, {
    unit: input.unit,
    post: (items, call) => client.import({ items: items as Memory[] }, call),
    count({ imported, skipped }) {
      counts.imported += imported;
      counts.skipped += skipped;
      return imported + skipped;
    },
  });
  const keyOf = (place: string) => idempotencyKey && `${idempotencyKey}:${place}`;
  await runPipeline(term, report, {
    jobs: chunkLines(input.lines, { keyOf }),
    // If several memories have the same id or external id, the first one must be imported.
    namesIn: ({ entries }) => namesOf(entries, [idOf, pairOf]),
    work(chunk) {
      hasExported ||= chunk.entries.some(isExported);
      return send(chunk, [chunk]);
    },
    unit: 'records',
  });
  await report.summary(counts);
  const isOther = report.failed() > 0 && !hasExported && !options.json;
  if (isOther && otherFormat) await note(term, otherFormat);
  report.end();
}

function reportFor(term: Terminal, { totalBytes }: BatchInput, options: ImportOptions) {
  const { json, errorsOut } = options;
  return openReport(term, { json, errorsOut, totalBytes, style: 'summary' });
}

function namesOf(entries: Entry[], nameOf: ((entry: Entry) => string | undefined)[]): Set<string> {
  const names = entries.flatMap((entry) => nameOf.map((name) => name(entry)));
  return new Set(names.filter((name) => name !== undefined));
}

type Sent = { accepted: number; replayed: number; failed: number; memories: number };

function remarksOn(counts: Sent, unit: Unit, { wait, errorsOut }: BatchOptions): string[] {
  const { accepted, replayed, failed, memories } = counts;
  const sent = accepted + replayed;
  const remarks = [];
  if (accepted === 0 && replayed > 0 && failed === 0) remarks.push(nothingNew(replayed, unit));
  if (wait && memories < sent) {
    const why = 'if records have the same externalId, only the last one is stored';
    remarks.push(`${sent} records became ${memoriesOf(memories)}: ${why}.`);
  }
  if (failed > 0) remarks.push(howToCorrect(errorsOut));
  return remarks;
}

function nothingNew(replayed: number, unit: Unit): string {
  const all = replayed === 1 ? `the one ${unit}` : `all ${replayed} ${unit}s`;
  return `Nothing new: an earlier run ingested ${all}.
They are recognized for three days by their text and position, or by the given
key, even if their memories have since been changed or deleted.
To ingest them again: --idempotency-key <a new key>`;
}

/** Suggests a new file: sending the whole corrected file again would duplicate other lines. */
function howToCorrect(errorsOut: string | undefined): string {
  if (errorsOut === undefined) {
    return 'Copy these lines to a new file, correct them, and ingest only the new file.';
  }
  return `Extract these lines: jq -r .text ${quoted(errorsOut)} > corrected.jsonl
Correct them there, and ingest only the new file.`;
}
