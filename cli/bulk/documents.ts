import type { DocumentRequest, MemoryClient, MemoryServiceError } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { messageOf } from '../client/service-errors.ts';
import type { GlobalOptions } from '../commander.ts';
import { type Found, findFiles, outsideLink } from '../documents/find.ts';
import { readDocument } from '../documents/read.ts';
import { CliError, errorCode, usageError } from '../errors.ts';
import { definedOnly, writeOptions } from '../options.ts';
import { printResult } from '../terminal/output.ts';
import { hint, type Terminal } from '../terminal/terminal.ts';
import { escapeLine } from '../terminal/text.ts';
import { tooLarge, usualBodyBytes } from './batch.ts';
import { runPipeline } from './pipeline.ts';
import type { BulkOptions, Done, Problem, Report, Result } from './report.ts';
import { retryWhileBusy } from './send.ts';
import { sendDocument } from './send-document.ts';
import { reportIngest, waitAndCount } from './wait.ts';

type Fields = Omit<DocumentRequest & DocumentRequest['data'], 'userId' | 'text' | 'data'>;
type DocumentOptions = GlobalOptions &
  BulkOptions & { [Name in keyof Fields]?: NonNullable<Fields[Name]> | undefined } & {
    user?: string | undefined;
    dryRun?: true | undefined;
  };

export async function ingestDocuments(term: Terminal, args: string[], options: DocumentOptions) {
  const { user: userId, title, mimeType, sourceUrl, pageCount, source, metadata } = options;
  const all = await findFiles(term, args);
  const [first, ...more] = all.filter(({ skipped }) => !skipped || skipped === outsideLink);
  if (first?.error !== undefined && more.length === 0) throw first.error;
  const single = args.length === 1 && first?.isNamed ? first : undefined;
  if (single === undefined) rejectForSeveral(options);
  async function requestOf(found: Found): Promise<DocumentRequest> {
    if (found.error !== undefined) throw found.error;
    const document = await readDocument(term, found, mimeType);
    const data = { ...document, ...definedOnly({ title, sourceUrl, pageCount }) };
    const externalId = options.externalId ?? found.externalId;
    return { ...definedOnly({ userId, source, externalId, metadata }), data };
  }
  const client = options.dryRun ? undefined : await connect(term, options);
  if (client && single) return ingestOne(term, client, await requestOf(single), options);
  const work = client ? await ingestWork(term, client, options) : await checkWork();
  const report = await forEachFile(term, all, options, async (found) =>
    work(found, await requestOf(found)),
  );
  const { counts, exitCode } = await waitAndCount(term, client, report, options, 'document');
  const linksNotFollowed = all.filter(({ skipped }) => skipped === outsideLink).length;
  await report.finish({ counts: { ...counts, linksNotFollowed }, exitCode }, skippedLine(all));
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
  if (!options.json) {
    await hint(term, `Unchanged. To show the memory: memory get ${accepted.memoryId}`);
  }
}

type FileWork = (found: Found, request: DocumentRequest) => Promise<Done>;

async function ingestWork(
  term: Terminal,
  client: MemoryClient,
  options: DocumentOptions,
): Promise<FileWork> {
  const send = await retryWhileBusy(term);
  return async (found, request) => {
    const call = writeOptions(term, { idempotencyKey: keyFor(found, request, options) });
    const { accepted, unchanged } = await send(() => sendDocument(client, request, call));
    const { memoryId } = accepted;
    const cells = [memoryId, found.externalId ?? found.path];
    const counts = { [unchanged ? 'unchanged' : 'ingested']: 1 };
    return { counts, memoryIds: [memoryId], row: { json: accepted, cells } };
  };
}

/**
 * Derives a key for each file from the caller's key, because each request needs its own key.
 * Returns undefined if the key can be derived from the document.
 */
function keyFor(
  { externalId, path }: Found,
  request: DocumentRequest,
  { idempotencyKey }: DocumentOptions,
): string | undefined {
  if (idempotencyKey !== undefined) {
    const hash = new Bun.CryptoHasher('sha256').update(externalId ?? path).digest('hex');
    return `${idempotencyKey}:${hash.slice(0, 16)}`;
  }
  // All attempts use one key, because an attempt without a response may have been executed.
  return request.externalId === undefined ? crypto.randomUUID() : undefined;
}

/** Validates the request against the default limits of the service and sends nothing. */
async function checkWork(): Promise<FileWork> {
  const { sentence, validateDocument } = await import('../../sdk/contract/validate.ts');
  return async ({ path }, request) => {
    // The service decides whether the user may be omitted, which depends on the key.
    const [problem] = validateDocument({ userId: 'any', ...request });
    if (problem) throw new CliError('invalid_request', `${path}: ${sentence(problem)}`);
    if (Buffer.byteLength(JSON.stringify(request)) > usualBodyBytes) {
      throw new CliError('payload_too_large', `${path} ${tooLarge}`);
    }
    const { mimeType, title } = request.data;
    const cells = [request.externalId ?? path, mimeType ?? '', title ?? ''];
    return { counts: { valid: 1 }, row: { json: request, cells } };
  };
}

/** Runs `work` for every file and reports the results and the rejected files. */
async function forEachFile(
  term: Terminal,
  all: Found[],
  { json, wait, dryRun }: DocumentOptions,
  work: (found: Found) => Promise<Done>,
): Promise<Report> {
  const { InvalidRequestError, PayloadTooLargeError } = await import('../../sdk/index.ts');
  const links = all.filter(({ skipped }) => skipped === outsideLink);
  const files = all.filter(({ skipped }) => skipped === undefined);
  // Any other error, such as a lost connection, would occur for all remaining files as well.
  const aboutTheFile = [CliError, InvalidRequestError, PayloadTooLargeError];
  async function workOn(found: Found): Promise<Result> {
    try {
      term.interrupted.throwIfAborted();
      const done = found.skipped === outsideLink ? linkDone(found) : await work(found);
      return { done: [done], problems: [] };
    } catch (error) {
      if (!aboutTheFile.some((one) => error instanceof one)) throw error;
      // An empty file in a folder is skipped; an empty file that the user named is an error.
      const isSkipped = !found.isNamed && errorCode(error) === 'empty';
      if (isSkipped) found.skipped = 'without text';
      const problem = problemOf(found, error as CliError | MemoryServiceError);
      return { done: [], problems: isSkipped ? [] : [problem] };
    }
  }
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const outcomes = dryRun ? ['valid'] : ['ingested', 'unchanged'];
  const sent = dryRun ? undefined : `of ${files.length} documents`;
  const jobs = [...links, ...files];
  const report = { json, wait, style: 'rows', totalBytes, outcomes } as const;
  return runPipeline(term, report, { jobs, work: workOn, sent });
}

/** Reports a link that is not followed. */
function linkDone({ externalId }: Found): Done {
  const message = `${externalId} is a link to a target outside its folder; it was not followed.`;
  const skipped = { code: 'link_outside', message };
  return { counts: {}, row: { json: { externalId, skipped }, note: message } };
}

/** Adds the path to errors that do not name the file, such as those from the service. */
function problemOf({ path, externalId }: Found, error: CliError | MemoryServiceError): Problem {
  const isOurs = error instanceof CliError;
  const message = isOurs ? error.message : messageOf(error);
  const named = message.includes(path) ? message : `${path}: ${message}`;
  const hint = isOurs && error.code === 'not_text' && error.hint ? ` ${error.hint}` : '';
  return {
    json: { externalId: externalId ?? null, error: { code: error.code, message } },
    note: named + hint,
  };
}

const maxKinds = 5;

/** Returns, for example, `Skipped 4 files that are not documents: .png (3), no extension (1).` */
function skippedLine(all: Found[]): string[] {
  const skipped = all.flatMap((one) => one.skipped ?? []).filter((kind) => kind !== outsideLink);
  if (skipped.length === 0) return [];
  const kinds = [...Map.groupBy(skipped, (kind) => kind)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([kind, { length }]) => `${kind} (${length})`);
  const more = kinds.length > maxKinds ? ', …' : '';
  const what =
    skipped.length === 1
      ? 'one file that is not a document'
      : `${skipped.length} files that are not documents`;
  const shown = kinds.slice(0, maxKinds).join(', ');
  return [escapeLine(`Skipped ${what}: ${shown}${more}. To ingest a skipped file, pass its name.`)];
}
