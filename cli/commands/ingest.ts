import type { IngestRecord, RecordType } from '../../sdk/index.ts';
import { runIngest } from '../bulk/ingest.ts';
import { openRecords } from '../bulk/input.ts';
import { recordOf } from '../bulk/records.ts';
import type { IngestOptions } from '../bulk/report.ts';
import { reportIngest } from '../bulk/wait.ts';
import { connect } from '../client/connect.ts';
import { addHelp, type Parent } from '../commander.ts';
import { CliError, usageError } from '../errors.ts';
import * as shared from '../options.ts';
import { isObject } from '../terminal/json.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addIngest(program: Parent, term: Terminal): void {
  const group = program
    .command('ingest')
    .description('Turn tickets, documents and conversations into memories.')
    .addHelpText(
      'after',
      '\nEach command returns as soon as the record is durably queued. To wait until it' +
        '\nis processed, add --wait, or run: memory wait <id>',
    );
  for (const add of [addSupport, addDocument, addChat, addRecord, addBatch]) add(group, term);
}

function addSupport(group: Parent, term: Terminal): void {
  const command = fileCommand(group, 'support', 'Ingest support tickets from a file.');
  command.action((file, options) => ingestFile(term, 'ticket', file, options));
  addHelp(command, recordHelp('data: { subject, comments: [{ author, content }] }'), [
    'memory ingest support ticket.json --wait',
    'memory ingest support tickets.jsonl',
  ]);
}

function addChat(group: Parent, term: Terminal): void {
  const command = fileCommand(group, 'chat', 'Ingest conversations from a file.')
    .addOption(shared.userOption)
    .option('--title <text>', 'the title')
    .addOption(shared.sourceOption)
    .addOption(shared.externalIdOption)
    .addOption(shared.metadataOption);
  command.action((file, options) => {
    const { user: userId, title, source, externalId, metadata } = options;
    const fields = shared.definedOnly({ userId, title, source, externalId, metadata });
    return ingestFile(term, 'conversation', file, options, fields);
  });
  addHelp(command, recordHelp('data: { messages: [{ role, content }] }') + chatHelp, [
    'memory ingest chat --user u-1 messages.json --wait',
    'memory ingest chat chat.json',
  ]);
}

function addRecord(group: Parent, term: Terminal): void {
  const description = 'Ingest any record: ticket, document, conversation, event or profile.';
  const command = fileCommand(group, 'record', description);
  command.action((file, options) => ingestFile(term, undefined, file, options));
  addHelp(command, recordHelp('type, data'), [
    'memory ingest record event.json',
    'cat event.json | memory ingest record -',
  ]);
}

function addBatch(group: Parent, term: Terminal): void {
  const description = 'Ingest a JSONL file of any size, with a record of any type on each line.';
  const command = fileCommand(group, 'batch', description).option(
    '--dry-run',
    'validate every line without sending anything',
  );
  command.action(async (file, options) => {
    shared.rejectOverwrite(term, file, options.errorsOut);
    const client = options.dryRun ? undefined : await connect(term);
    const input = await openRecords(term, file);
    // A program that failed before the pipe must not look like a success.
    if (file === '-' && input.totalBytes === 0) throw new CliError('empty', 'The input is empty.');
    return runIngest(term, client, input, options);
  });
  addHelp(command, batchHelp, [
    'memory ingest batch records.jsonl --dry-run',
    'memory ingest batch records.jsonl --errors-out bad.jsonl',
    'cat records.jsonl | memory ingest batch -',
  ]);
}

const batchHelp = `
A line looks like this:
  {"type":"event","userId":"u-1","data":{"name":"signed up","plan":"pro"}}
Types: event, profile, ticket, document, conversation. The last three can be
inferred: subject and comments make a ticket, messages a conversation, text a
document. Without a type, the fields of data can also be at the top level.

Running the same command again creates no duplicates. Lines with an externalId
update the same memory. All other lines are recognized for three days by their
text and position, and counted as replayed. To ingest them again, pass a new
--idempotency-key.

To correct failed lines, extract them from the --errors-out file:
  jq -r .text bad.jsonl > corrected.jsonl
Edit them there and ingest only the new file.`;

function addDocument(group: Parent, term: Terminal): void {
  const command = group
    .command('document')
    .argument('<file...>', 'files or folders; - for stdin', (name, previous: string[] = []) => [
      ...previous,
      shared.parseFile(name),
    ])
    .usage('--user <id> [options] <file...>')
    .description('Ingest Markdown, HTML and other text files.')
    .addOption(shared.userOption)
    .option('--title <text>', 'the title (default: taken from the document)')
    .option(
      '--mime-type <type>',
      'the MIME type, for example text/markdown (default: by file extension)',
    )
    .option('--source-url <url>', 'the URL of the document')
    .addOption(shared.sourceOption)
    .addOption(shared.externalIdOption)
    .addOption(shared.metadataOption)
    .option('--dry-run', 'read and validate every file without sending anything')
    .addOption(shared.idempotencyKeyOption)
    .addOption(shared.waitOption)
    .addOption(shared.timeoutOption);
  command.action(async (files) => {
    const { ingestDocuments } = await import('../bulk/documents.ts');
    return ingestDocuments(term, files, command.optsWithGlobals());
  });
  addHelp(command, documentHelp, [
    'memory ingest document --user u-1 handbook.md --title "Handbook" --wait',
    'memory ingest document --user u-1 --source notes handbook.md faq.md',
    'memory ingest document --user u-1 docs/',
    'memory ingest document --user u-1 docs/ --dry-run',
    'cat faq.md handbook.md | memory ingest document --user u-1 -',
    'memory ingest document --user u-1 - --mime-type text/html < docs/page.html',
  ]);
}

const documentHelp = `
HTML is converted to the visible text of the page; other text is stored
unchanged. To see what would be sent: --dry-run --json. Convert other formats,
such as PDF, to text first.

A folder is searched recursively for text, Markdown, HTML, CSV, JSON, YAML, XML
and similar files. Hidden files, links and node_modules are skipped. A file of
another type is ingested if it is named.

The external id of a file is its path as given: ingesting the file again updates
the same memory, or changes nothing if the file is unchanged.`;

function fileCommand(group: Parent, name: string, description: string) {
  return group
    .command(name)
    .argument('<file>', 'one record as JSON, or many as JSON Lines; - for stdin', shared.parseFile)
    .description(description)
    .addOption(shared.idempotencyKeyOption)
    .addOption(shared.errorsOutOption)
    .addOption(shared.waitOption)
    .addOption(shared.timeoutOption);
}

function recordHelp(fields: string): string {
  return `
A file contains one record, or several records with one per line. With -, the
records are read from stdin. --errors-out has no effect on a single record.
Record: { userId, source?, externalId?, metadata?, occurredAt?, expiresAt?,
  ${fields} }`;
}

const chatHelp = `
Or only the messages, as model APIs use them: [{ role, content }, …]. In this
case, the options describe the conversation.`;

/** Whether the value is a list of messages, not of records, which have no role or author. */
function isMessages(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  return value.some((one) => isObject(one) && ('role' in one || 'author' in one));
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;

/** With `fields`, the file may instead be the messages of one conversation. */
async function ingestFile(
  term: Terminal,
  type: RecordType | undefined,
  path: string,
  options: IngestOptions,
  fields: { title?: string } = {},
): Promise<void> {
  shared.rejectOverwrite(term, path, options.errorsOut);
  const client = await connect(term);
  const input = await openRecords(term, path, type);
  let record = input.json;
  if (type === 'conversation' && isMessages(record)) {
    const { title, ...named } = fields;
    record = { ...named, data: { messages: record, title } };
  } else if (Object.keys(fields).length > 0 && !isEmpty(record)) {
    const message = 'Only a list of messages [{ role, content }, …] takes options such as --user.';
    throw usageError(`${message} Give each message a role, or set these fields in the records.`);
  }
  if (record === undefined || Array.isArray(record)) return runIngest(term, client, input, options);
  const call = shared.writeOptions(term, options);
  const accepted = await client.ingest.record(recordOf(record, type) as IngestRecord, call);
  await reportIngest(term, client, accepted, options);
}
