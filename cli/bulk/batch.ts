import type { IngestRecord, Memory, MemoryClient, RecordType } from '../../sdk/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { memoriesOf, quoted } from '../terminal/text.ts';
import { chunkLines, partsOf } from './chunks.ts';
import type { BatchInput, Unit } from './input.ts';
import { runPipeline } from './pipeline.ts';
import { type BadLine, type Entry, idOf, isExported, pairOf } from './records.ts';
import { type BulkOptions, notWaited, type Problem, type Report } from './report.ts';
import { chunkSender, type Post } from './send.ts';
import { waitAndCount } from './wait.ts';

type BatchOptions = BulkOptions & { type?: RecordType | undefined };
/** `otherFormat` is a hint for failed lines if no line is in the format of `memory export`. */
type ImportOptions = Omit<BulkOptions, 'timeout'> & { otherFormat?: string };

/** The default body limit of the service. A dry run assumes this limit. */
export const usualBodyBytes = 5 * 1024 * 1024;
export const tooLarge = 'is larger than 5 MiB, the default limit of the service';

/** Ingests every line of the input. Without a client, validates every line and sends nothing. */
export async function runBatch(
  term: Terminal,
  client: MemoryClient | undefined,
  input: BatchInput,
  options: BatchOptions,
): Promise<void> {
  const report = await runChunks(term, input, options, {
    outcomes: client ? ['accepted', 'replayed'] : ['valid'],
    namesOf: (entry) => [pairOf(entry)],
    post: client ? ingestPost(client) : await dryRunPost(),
    sent: client && 'records',
  });
  const waited = await waitAndCount(term, client, report, options, 'record');
  await report.finish(waited, client ? remarksOn(report, input.unit, options) : []);
}

function ingestPost(client: MemoryClient): Post {
  return async (entries, call) => {
    const items = entries.map(({ item }) => item as IngestRecord);
    const { data, response } = await client.ingest.batch({ items }, call).withResponse();
    const outcome = response.idempotencyStatus === 'replayed' ? 'replayed' : 'accepted';
    const memoryIds = data.items.map(({ memoryId }) => memoryId);
    return { counts: { [outcome]: data.accepted }, memoryIds, failed: data.failed };
  };
}

/** Validates the records against the default limits of the service, and sends nothing. */
async function dryRunPost(): Promise<Post> {
  const { sentence, validateRecord } = await import('../../sdk/contract/validate.ts');
  return async (entries) => {
    const failed = entries.flatMap(({ text, item }, index) => {
      if (Buffer.byteLength(`{"items":[${text}]}`) > usualBodyBytes) {
        return { index, error: 'payload_too_large', message: tooLarge };
      }
      const [problem] = validateRecord(item);
      return problem ? { index, error: 'invalid_request', message: sentence(problem) } : [];
    });
    return { counts: { valid: entries.length - failed.length }, failed };
  };
}

/**
 * Imports every line of the input. Memories have their own ids, so a second run skips existing
 * memories. Idempotency keys are not derived from the content: with such keys, a second run would
 * also skip a memory that was deleted after the first run, but an import must restore it.
 */
export async function runImport(
  term: Terminal,
  client: MemoryClient,
  input: BatchInput,
  options: ImportOptions,
): Promise<void> {
  const { idempotencyKey = crypto.randomUUID(), otherFormat } = options;
  let hasExported = false;
  const keyed = { ...options, idempotencyKey };
  const report = await runChunks(term, input, keyed, {
    outcomes: ['imported', 'skipped'],
    // If several memories have the same id or external id, the first one must be imported.
    namesOf: (entry) => [idOf(entry), pairOf(entry)],
    async post(entries, call) {
      hasExported ||= entries.some(isExported);
      const items = entries.map(({ item }) => item as Memory);
      const { imported, skipped, failed } = await client.import({ items }, call);
      return { counts: { imported, skipped }, failed };
    },
    sent: 'records',
  });
  const isOther = report.failed() > 0 && !hasExported;
  await report.finish(notWaited, isOther && otherFormat ? [otherFormat] : []);
}

type ChunkRun = {
  outcomes: string[];
  /** The names of the objects that an entry changes. Entries with the same name stay in order. */
  namesOf(entry: Entry): (string | undefined)[];
  post: Post;
  sent: string | undefined;
};

/** Posts each chunk of the input and reports the results. */
async function runChunks(
  term: Terminal,
  { lines, unit, totalBytes }: BatchInput,
  options: Partial<BatchOptions>,
  { outcomes, namesOf, post, sent }: ChunkRun,
): Promise<Report> {
  const send = await chunkSender(term, post);
  const problemOf = ({ line, error, message, text }: BadLine): Problem => {
    return { json: { line, error, message }, note: `${unit} ${line}: ${message}`, text };
  };
  return runPipeline(
    term,
    { ...options, outcomes, totalBytes, style: 'summary' },
    {
      jobs: chunkLines(lines, options.type),
      namesIn: ({ entries }) =>
        new Set(entries.flatMap(namesOf).filter((name) => name !== undefined)),
      async work(chunk) {
        const done = await send(partsOf(chunk, options));
        const bad = [...chunk.bad, ...done.flatMap((one) => one.bad)];
        return { done, problems: bad.sort((a, b) => a.line - b.line).map(problemOf) };
      },
      sent,
    },
  );
}

function remarksOn(report: Report, unit: Unit, { wait, errorsOut }: BatchOptions): string[] {
  const { accepted = 0, replayed = 0 } = report.counts;
  const [memories, failed] = [report.memoryIds.size, report.failed()];
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
  const all = replayed === 1 ? `the only ${unit}` : `all ${replayed} ${unit}s`;
  return `Nothing new: an earlier run ingested ${all}.
Records are recognized for three days by their text and position, or by the
given key, even if their memories have since been changed or deleted.
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
