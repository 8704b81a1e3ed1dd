import type {
  CallOptions,
  DocumentRequest,
  MemoryClient,
  MemoryServiceError,
  Metadata,
} from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { messageOf, rejectDeletedIngest } from '../client/service-errors.ts';
import type { GlobalOptions } from '../commander.ts';
import { type Found, findFiles, type Search, skip } from '../documents/find.ts';
import { readDocument } from '../documents/read.ts';
import { CliError, errorCode, usageError } from '../errors.ts';
import { definedOnly, needUser, writeOptions } from '../options.ts';
import { printResult } from '../terminal/output.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';
import { escapeLine } from '../terminal/text.ts';
import { tooLarge, usualBodyBytes } from './batch.ts';
import { runPipeline } from './pipeline.ts';
import { type Counts, openReport, type Problem, type Report, type Row } from './report.ts';
import { retryWhileBusy } from './send.ts';
import { sendDocument } from './send-document.ts';
import { type BulkOptions, reportIngest, waitAndCount } from './wait.ts';

type DocumentOptions = GlobalOptions &
  BulkOptions & {
    user?: string | undefined;
    title?: string | undefined;
    mimeType?: string | undefined;
    sourceUrl?: string | undefined;
    pageCount?: number | undefined;
    source?: string | undefined;
    externalId?: string | undefined;
    metadata?: Metadata | undefined;
    dryRun?: true | undefined;
  };

type RequestOf = (found: Found) => Promise<DocumentRequest>;

export async function ingestDocuments(term: Terminal, args: string[], options: DocumentOptions) {
  const { title, mimeType, sourceUrl, pageCount, source, metadata } = options;
  const userId = needUser(options.user);
  const search = await findFiles(term, args);
  const [first] = search.files;
  const isAlone = search.files.length === 1 && search.outside.size === 0;
  if (isAlone && first?.error !== undefined) throw first.error;
  const single = args.length === 1 && first?.isNamed ? first : undefined;
  if (single === undefined) rejectForSeveral(options);
  async function requestOf(found: Found): Promise<DocumentRequest> {
    if (found.error !== undefined) throw found.error;
    const document = await readDocument(term, found.path, mimeType);
    const data = { ...document, ...definedOnly({ title, sourceUrl, pageCount }) };
    const externalId = options.externalId ?? found.externalId;
    return { userId, ...definedOnly({ source, externalId, metadata }), data };
  }
  if (options.dryRun) return dryRun(term, search, requestOf, options);
  const client = await connect(term, options);
  if (single === undefined) return ingestMany(term, client, search, requestOf, options);
  return ingestOne(term, client, await requestOf(single), options);
}

async function ingestOne(
  term: Terminal,
  client: MemoryClient,
  request: DocumentRequest,
  options: DocumentOptions,
): Promise<void> {
  const sent = await sendDocument(client, request, writeOptions(term, options));
  const { accepted, unchanged } = sent;
  if (!unchanged || options.wait) return reportIngest(term, client, accepted, options);
  await printResult(term, options.json, accepted, accepted.memoryId);
  if (!options.json) await hint(term, `Unchanged. To show it: memory get ${accepted.memoryId}`);
}

async function ingestMany(
  term: Terminal,
  client: MemoryClient,
  search: Search,
  requestOf: RequestOf,
  options: DocumentOptions,
): Promise<void> {
  const call: CallOptions = writeOptions(term, options);
  const send = await retryWhileBusy(term);
  const counts = { ingested: 0, unchanged: 0 };
  const awaited: string[] = [];
  async function ingest(found: Found) {
    const request = await requestOf(found);
    const keyed = keyAt(call, found);
    // One key for all attempts, because an attempt without a response may have been executed.
    const own = request.externalId === undefined ? { idempotencyKey: crypto.randomUUID() } : {};
    const sent = await send(() => sendDocument(client, request, { ...own, ...keyed }));
    const { memoryId } = sent.accepted;
    if (call.idempotencyKey !== undefined) {
      await send(() => rejectDeletedIngest(term, client, memoryId));
    }
    counts[sent.unchanged ? 'unchanged' : 'ingested'] += 1;
    awaited.push(memoryId);
    return { json: sent.accepted, cells: [memoryId, found.externalId ?? found.path] };
  }
  const unit = `of ${search.files.length} documents`;
  const report = await forEachFile(term, options, search, ingest, unit);
  const { waited, exitCode } = await waitAndCount(term, client, awaited, {
    ...options,
    accepted: { what: 'document', count: report.done() },
  });
  await summarize(term, report, search, { ...counts, ...waited });
  report.end(exitCode);
}

async function dryRun(
  term: Terminal,
  search: Search,
  requestOf: RequestOf,
  options: DocumentOptions,
): Promise<void> {
  const { sentence, validateDocument } = await import('../../sdk/contract/validate.ts');
  const report = await forEachFile(term, options, search, async (found) => {
    const request = await requestOf(found);
    const [problem] = validateDocument(request);
    if (problem) throw new CliError('invalid_request', `${found.path}: ${sentence(problem)}`);
    if (Buffer.byteLength(JSON.stringify(request)) > usualBodyBytes) {
      throw new CliError('payload_too_large', `${found.path} ${tooLarge}`);
    }
    const { mimeType, title } = request.data;
    const cells = [request.externalId ?? found.path, mimeType ?? '', title ?? ''];
    return { json: request, cells };
  });
  await summarize(term, report, search, { valid: report.done() });
  report.end();
}

/** Derives a key for each file from the caller's key, because each request needs its own key. */
function keyAt(call: CallOptions, { externalId, path }: Found): CallOptions {
  if (call.idempotencyKey === undefined) return call;
  const hash = new Bun.CryptoHasher('sha256').update(externalId ?? path).digest('hex');
  return { ...call, idempotencyKey: `${call.idempotencyKey}:${hash.slice(0, 16)}` };
}

function rejectForSeveral({ title, sourceUrl, pageCount, externalId }: DocumentOptions): void {
  const one = [title, sourceUrl, pageCount, externalId];
  if (one.every((value) => value === undefined)) return;
  throw usageError(
    '--title, --source-url, --page-count and --external-id apply to a single document and' +
      ' cannot be used with several files or a folder.',
    'To set them, ingest the files one at a time.',
  );
}

const maxKinds = 5;

/**
 * Runs `work` for every file and reports the rows and the rejected files. Any other error ends the
 * run. The error message then states how many files were sent, counted in `unit`.
 */
async function forEachFile(
  term: Terminal,
  { json }: { json?: true | undefined },
  search: Search,
  work: (found: Found) => Promise<Row>,
  unit?: string,
): Promise<Report> {
  const { InvalidRequestError, PayloadTooLargeError } = await import('../../sdk/index.ts');
  const { files: jobs, outside, totalBytes } = search;
  const report = openReport(term, { json, style: 'rows', totalBytes });
  for (const externalId of outside) {
    const message = `${externalId} is a link to a target outside its folder; it was not followed.`;
    const skipped = { code: 'link_outside', message };
    if (json) await report.row({ json: { externalId, skipped }, cells: [] });
    else await note(term, escapeLine(message));
  }
  // Any other error, such as a lost connection, would occur for all remaining files as well.
  const aboutTheFile = [CliError, InvalidRequestError, PayloadTooLargeError];
  async function workOn(found: Found) {
    try {
      term.interrupted.throwIfAborted();
      return { done: 1, rows: [await work(found)], problems: [] };
    } catch (error) {
      if (!aboutTheFile.some((one) => error instanceof one)) throw error;
      // An empty file in a folder is skipped; an empty file that the user named is an error.
      const isSkipped = !found.isNamed && errorCode(error) === 'empty';
      if (isSkipped) skip(search, 'without text');
      const problem = problemOf(found, error as CliError | MemoryServiceError);
      return { done: 0, problems: isSkipped ? [] : [problem] };
    }
  }
  await runPipeline<Search['files'][number]>(term, report, { jobs, work: workOn, unit });
  return report;
}

/** Adds the path to errors that do not name the file, such as those of the service. */
function problemOf({ path, externalId }: Found, error: CliError | MemoryServiceError): Problem {
  const isOurs = error instanceof CliError;
  const message = isOurs ? error.message : messageOf(error);
  const named = message.includes(path) ? message : `${path}: ${message}`;
  const hint = isOurs && error.code === 'not_text' && error.hint ? ` ${error.hint}` : '';
  return {
    shown: named + hint,
    json: { externalId: externalId ?? null, error: { code: error.code, message } },
  };
}

async function summarize(term: Terminal, report: Report, search: Search, counts: Counts) {
  if (report.isQuiet()) return;
  if (search.skipped.size > 0) await note(term, skippedLine(search.skipped));
  await report.summary({ ...counts, linksNotFollowed: search.outside.size });
}

/** For example `Skipped 4 files that are not documents: .png (3), no extension (1).` */
function skippedLine(skipped: Search['skipped']): string {
  const kinds = [...skipped].sort(([, a], [, b]) => b - a);
  const sum = kinds.reduce((before, [, count]) => before + count, 0);
  const shown = kinds.slice(0, maxKinds).map(([kind, count]) => `${kind} (${count})`);
  const more = kinds.length > maxKinds ? ', …' : '';
  const what =
    sum === 1 ? 'one file that is not a document' : `${sum} files that are not documents`;
  const line = `Skipped ${what}: ${shown.join(', ')}${more}. To ingest one anyway, pass its name.`;
  return escapeLine(line);
}
