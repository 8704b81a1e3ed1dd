import type { DocumentRequest, Metadata } from '../../sdk/index.ts';
import { type AfterIngest, tellAccepted } from '../accepted.ts';
import type { GlobalOptions } from '../commander.ts';
import { connect } from '../connect.ts';
import { usageError } from '../failure.ts';
import { hint, type Io } from '../io.ts';
import { given, needUser, writeOptions } from '../options.ts';
import { printResult } from '../output.ts';
import { dryRun } from './dry-run.ts';
import { type Found, findFiles } from './find.ts';
import { ingestMany } from './ingest-many.ts';
import { readDocument } from './read.ts';
import { sendDocument } from './send.ts';

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
  io: Io,
  args: string[],
  options: DocumentOptions,
): Promise<void> {
  const { title, mimeType, sourceUrl, pageCount, source, metadata } = options;
  const userId = needUser(options.user);
  const search = await findFiles(io, args);
  const [first] = search.files;
  const isAlone = search.files.length === 1 && search.outside.length === 0;
  if (isAlone && first?.error !== undefined) throw first.error;
  const single = args.length === 1 && first?.isNamed ? first : undefined;
  if (single === undefined) refuseForSeveral(options);
  async function requestOf(found: Found): Promise<DocumentRequest> {
    if (found.error !== undefined) throw found.error;
    const document = await readDocument(io, found.path, mimeType);
    const data = { ...document, ...given({ title, sourceUrl, pageCount }) };
    const externalId = options.externalId ?? found.externalId;
    return { userId, ...given({ source, externalId, metadata }), data };
  }
  if (options.dryRun) return dryRun(io, search, requestOf, options.json);
  const client = await connect(io, options);
  const call = writeOptions(io, options);
  if (single === undefined) return ingestMany(io, client, search, requestOf, call, options);
  const { accepted, unchanged } = await sendDocument(client, await requestOf(single), call);
  if (!unchanged || options.wait) return tellAccepted(io, client, accepted, options);
  const { memoryId } = accepted;
  await printResult(io, options.json, accepted, memoryId);
  if (!options.json) await hint(io, `Unchanged. See it: memory get ${memoryId}`);
}

function refuseForSeveral({ title, sourceUrl, pageCount, externalId }: DocumentOptions): void {
  const one = [title, sourceUrl, pageCount, externalId];
  if (one.every((value) => value === undefined)) return;
  throw usageError(
    'With several files or a folder, leave out --title, --source-url, --page-count and --external-id.',
    'They are about one document: ingest the files one by one to give each its own.',
  );
}
