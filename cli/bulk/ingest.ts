import { sentence } from '../../sdk/contract/errors.ts';
import type { IngestRecord, Memory, MemoryClient } from '../../sdk/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { BulkInput } from './input.ts';
import { runBulk } from './pipeline.ts';
import type { Entry } from './records.ts';
import type { BulkOptions, IngestOptions, Row } from './report.ts';
import type { Post } from './requests.ts';
import { finishBulk } from './wait.ts';

/** The default body limit of the service. A dry run assumes this limit. */
const usualBodyBytes = 5 * 1024 * 1024;
const tooLarge = 'is larger than 5 MiB, the default limit of the service';

/** Ingests every record. Without a client, validates every record and sends nothing. */
export async function runIngest(
  term: Terminal,
  client: MemoryClient | undefined,
  input: BulkInput,
  options: IngestOptions,
): Promise<void> {
  const report = await runBulk(term, options, {
    ...input,
    outcomes: client ? ['accepted', 'unchanged', 'replayed'] : ['valid'],
    post: client ? ingestPost(client) : await dryRunPost(),
  });
  await finishBulk(term, client, report, options);
}

function ingestPost(client: MemoryClient): Post {
  return async (entries, call) => {
    const items = entries.map(({ item }) => item as IngestRecord);
    const { data, response } = await client.ingest.batch({ items }, call).withResponse();
    const isReplay = response.idempotencyStatus === 'replayed';
    const unchanged = isReplay ? 0 : data.items.filter((one) => one.status === 'complete').length;
    const sent = data.accepted - unchanged;
    const rows = data.items.flatMap(({ index, memoryId, status }): Row[] => {
      const file = entries[index]?.where.file;
      return file ? [{ cells: [memoryId, file], json: { file, memoryId, status } }] : [];
    });
    return {
      counts: isReplay ? { replayed: sent } : { accepted: sent, unchanged },
      memoryIds: data.items.map(({ memoryId }) => memoryId),
      rows,
      failed: data.failed,
    };
  };
}

/** Validates the records against the default limits of the service, and sends nothing. */
async function dryRunPost(): Promise<Post> {
  const { validateRecord } = await import('../../sdk/contract/validate.ts');
  const problemOf = ({ text, item, where }: Entry) => {
    if (Buffer.byteLength(`{"items":[${text}]}`) > usualBodyBytes) {
      return { error: 'payload_too_large', message: tooLarge };
    }
    // The service decides whether the user of a document may be omitted, which depends on the key.
    const complete = where.file ? { userId: 'any', ...(item as object) } : item;
    const [problem] = validateRecord(complete);
    return problem && { error: 'invalid_request', message: sentence(problem) };
  };
  return async (entries) => {
    const problems = entries.map(problemOf);
    const failed = problems.flatMap((one, index) => (one === undefined ? [] : { index, ...one }));
    const valid = entries.filter((_, index) => problems[index] === undefined);
    const rows = valid.flatMap(({ where: { file }, item }): Row[] =>
      file ? [{ cells: [file], json: item as object }] : [],
    );
    return { counts: { valid: valid.length }, rows, failed };
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
  input: BulkInput,
  options: BulkOptions,
): Promise<void> {
  const { idempotencyKey = crypto.randomUUID() } = options;
  const report = await runBulk(
    term,
    { ...options, idempotencyKey },
    {
      ...input,
      outcomes: ['imported', 'skipped', 'replayed'],
      async post(all, call) {
        const items = all.map(({ item }) => item as Memory);
        const { data, response } = await client.import({ items }, call).withResponse();
        const { imported, skipped, failed } = data;
        // A random key is replayed only by a retry of this run.
        const isReplay = options.idempotencyKey && response.idempotencyStatus === 'replayed';
        const counts = isReplay ? { replayed: imported + skipped } : { imported, skipped };
        return { counts, failed };
      },
    },
  );
  await report.finish();
}
