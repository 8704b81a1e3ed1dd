import type { DocumentRequest } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { type Found, findFiles } from '../documents/find.ts';
import { readDocument } from '../documents/read.ts';
import { CliError, usageError } from '../errors.ts';
import { definedOnly, writeOptions } from '../options.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { runIngest } from './ingest.ts';
import type { Entry, Rejected } from './records.ts';
import type { IngestOptions } from './report.ts';
import { reportIngest } from './wait.ts';

type Fields = Omit<DocumentRequest & DocumentRequest['data'], 'userId' | 'text' | 'data'>;
type DocumentOptions = IngestOptions & {
  [Name in keyof Fields]?: NonNullable<Fields[Name]> | undefined;
} & {
  user?: string | undefined;
  dryRun?: true | undefined;
};

export async function ingestDocuments(term: Terminal, args: string[], options: DocumentOptions) {
  const { files, skipped } = await findFiles(term, args);
  const [only] = files;
  const single = args.length === 1 && only?.isNamed ? only : undefined;
  const { title, sourceUrl, externalId } = options;
  if (single === undefined && (title ?? sourceUrl ?? externalId) !== undefined) {
    throw usageError('--title, --source-url and --external-id need a single file.');
  }
  const client = options.dryRun ? undefined : await connect(term);
  if (client && single) {
    const request = await requestOf(term, single, options);
    const accepted = await client.ingest.document(request, writeOptions(term, options));
    return reportIngest(term, client, accepted, options);
  }
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const entries = entriesOf(term, files, skipped, options);
  const input = { entries, totalBytes, remarks: () => skippedLine(skipped) };
  await runIngest(term, client, input, options);
}

async function requestOf(
  term: Terminal,
  found: Found,
  options: DocumentOptions,
): Promise<DocumentRequest> {
  const { user: userId, title, mimeType, sourceUrl, source, metadata } = options;
  const document = await readDocument(term, found, mimeType);
  const data = { ...document, ...definedOnly({ title, sourceUrl }) };
  const id = options.externalId ?? found.externalId;
  return { ...definedOnly({ userId, source, externalId: id, metadata }), data };
}

/** Reads the files. An empty file in a folder is skipped; one that the user named is an error. */
async function* entriesOf(
  term: Terminal,
  files: Found[],
  skipped: string[],
  options: DocumentOptions,
): AsyncGenerator<Entry | Rejected> {
  for (const found of files) {
    const where = { file: found.externalId ?? found.path };
    try {
      const item = { type: 'document', ...(await requestOf(term, found, options)) };
      yield { where, text: JSON.stringify(item), item };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const { code, message, hint } = error;
      if (code === 'empty' && !found.isNamed) skipped.push('without text');
      else yield { where, text: '', error: code, message: hint ? `${message} ${hint}` : message };
    }
  }
}

/** Returns, for example, `Skipped 4 files: .png (3), no extension (1).` */
function skippedLine(skipped: string[]): string[] {
  if (skipped.length === 0) return [];
  const files = skipped.length === 1 ? '1 file' : `${skipped.length} files`;
  const kinds = [...Map.groupBy(skipped, (kind) => kind)];
  const counts = kinds.map(([kind, { length }]) => `${kind} (${length})`).join(', ');
  return [`Skipped ${files}: ${counts}. To ingest a skipped file, pass its name.`];
}
