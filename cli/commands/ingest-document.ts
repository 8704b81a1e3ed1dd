import type { Accepted, CallOptions, DocumentRequest } from '../../sdk/index.ts';
import { tellAccepted } from '../accepted.ts';
import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { ingestEach } from '../each-document.ts';
import { addExamples } from '../examples.ts';
import { CliError, usageError } from '../failure.ts';
import { inputName, readText } from '../input.ts';
import type { Io } from '../io.ts';
import {
  externalIdOption,
  given,
  idempotencyKeyOption,
  metadataOption,
  needUser,
  parseWhole,
  sourceOption,
  timeoutOption,
  userOption,
  waitOption,
  writeOptions,
} from '../options.ts';

export function addIngestDocument(group: Parent, io: Io): void {
  const command = group
    .command('document <file...>')
    .usage('--user <id> [options] <file...>')
    .description('Ingest text files, each as one document.')
    .addOption(userOption)
    .option('--title <text>', 'its title')
    .option('--mime-type <type>', 'as text/markdown')
    .option('--source-url <url>', 'where it was found')
    .option('--page-count <number>', 'how many pages it had', parseWhole)
    .addOption(sourceOption)
    .addOption(externalIdOption)
    .addOption(metadataOption)
    .addOption(idempotencyKeyOption)
    .addOption(waitOption)
    .addOption(timeoutOption)
    .addHelpText(
      'after',
      '\nWith - the text is read from stdin. A file has its path, as it is given, as' +
        '\nexternal id: ingesting it again updates the same memory. --external-id gives' +
        '\nanother one.',
    );
  command.action(async (files) => {
    const options = command.optsWithGlobals();
    const { title, mimeType, sourceUrl, pageCount, source, metadata } = options;
    const userId = needUser(options.user);
    const client = await connect(io, options);
    const call = writeOptions(io, options);
    const [only = '-', ...others] = files;
    async function ingest(path: string, externalId: string | undefined): Promise<Accepted> {
      const text = await documentText(io, path);
      const data = { text, ...given({ title, mimeType, sourceUrl, pageCount }) };
      const about = given({ source, externalId, metadata });
      const request: DocumentRequest = { userId, ...about, data };
      const place = files.indexOf(path) + 1;
      return client.ingest.document(request, keyAt(call, others.length > 0 ? place : undefined));
    }
    if (others.length === 0) {
      return tellAccepted(
        io,
        client,
        await ingest(only, options.externalId ?? idOf(only)),
        options,
      );
    }
    refuseForSeveral({ title, sourceUrl, pageCount, externalId: options.externalId });
    return ingestEach(io, client, files, (path) => ingest(path, idOf(path)), options);
  });
  addExamples(command, [
    'memory ingest document --user u-1 handbook.md --title "Handbook" --wait',
    'memory ingest document --user u-1 --source notes handbook.md faq.md',
    'curl -s file:///etc/hostname | memory ingest document --user u-1 -',
  ]);
}

/** What comes from stdin has no name. */
function idOf(path: string): string | undefined {
  return path === '-' ? undefined : path;
}

async function documentText(io: Io, path: string): Promise<string> {
  const text = await readText(io, path);
  if (text === '') throw new CliError({ code: 'empty', message: `${inputName(path)} is empty.` });
  return text;
}

/** One key cannot stand for several requests. */
function keyAt(call: CallOptions, place: number | undefined): CallOptions {
  if (!call.idempotencyKey || place === undefined) return call;
  return { ...call, idempotencyKey: `${call.idempotencyKey}:${place}` };
}

function refuseForSeveral(options: Record<string, unknown>): void {
  if (Object.values(options).every((value) => value === undefined)) return;
  throw usageError(
    'With several files, leave out --title, --source-url, --page-count and --external-id.',
    'They are about one document: ingest the files one by one to give each its own.',
  );
}
