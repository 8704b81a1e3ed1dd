import type { DocumentRequest, Metadata } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { usageError } from '../client/errors.ts';
import type { GlobalOptions } from '../commander.ts';
import { dryRun } from '../documents/dry-run.ts';
import { type Found, findFiles } from '../documents/find.ts';
import { ingestMany } from '../documents/ingest-many.ts';
import { readDocument } from '../documents/read.ts';
import { sendDocument } from '../documents/send.ts';
import { definedOnly, needUser, writeOptions } from '../options.ts';
import { printResult } from '../terminal/output.ts';
import { hint, type Terminal } from '../terminal/terminal.ts';
import { type AfterIngest, reportIngest } from './ingest-report.ts';

export type DocumentOptions = GlobalOptions &
  AfterIngest & {
    user?: string | undefined;
    title?: string | undefined;
    mimeType?: string | undefined;
    sourceUrl?: string | undefined;
    pageCount?: number | undefined;
    source?: string | undefined;
    externalId?: string | undefined;
    metadata?: Metadata | undefined;
    idempotencyKey?: string | undefined;
    dryRun?: true | undefined;
  };

/** Ingests what the arguments stand for: files, folders, patterns, stdin for `-`. */
export async function ingestDocuments(
  term: Terminal,
  args: string[],
  options: DocumentOptions,
): Promise<void> {
  const { title, mimeType, sourceUrl, pageCount, source, metadata } = options;
  const userId = needUser(options.user);
  const search = await findFiles(term, args);
  const [first] = search.files;
  const isAlone = search.files.length === 1 && search.outside.length === 0;
  if (isAlone && first?.error !== undefined) throw first.error;
  const single = args.length === 1 && first?.isNamed ? first : undefined;
  if (single === undefined) refuseForSeveral(options);
  async function requestOf(found: Found): Promise<DocumentRequest> {
    if (found.error !== undefined) throw found.error;
    const document = await readDocument(term, found.path, mimeType);
    const data = { ...document, ...definedOnly({ title, sourceUrl, pageCount }) };
    const externalId = options.externalId ?? found.externalId;
    return { userId, ...definedOnly({ source, externalId, metadata }), data };
  }
  if (options.dryRun) return dryRun(term, search, requestOf, options.json);
  const client = await connect(term, options);
  const call = writeOptions(term, options);
  if (single === undefined) return ingestMany(term, client, search, requestOf, call, options);
  const { accepted, unchanged } = await sendDocument(client, await requestOf(single), call);
  if (!unchanged || options.wait) return reportIngest(term, client, accepted, options);
  const { memoryId } = accepted;
  await printResult(term, options.json, accepted, memoryId);
  if (!options.json) await hint(term, `Unchanged. See it: memory get ${memoryId}`);
}

function refuseForSeveral({ title, sourceUrl, pageCount, externalId }: DocumentOptions): void {
  const one = [title, sourceUrl, pageCount, externalId];
  if (one.every((value) => value === undefined)) return;
  throw usageError(
    'With several files or a folder, leave out --title, --source-url, --page-count and --external-id.',
    'They are about one document: ingest the files one by one to give each its own.',
  );
}
