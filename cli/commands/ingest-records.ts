import type { Command } from '@commander-js/extra-typings';
import type { IngestRecord, RecordType } from '../../sdk/index.ts';
import { runBatch } from '../bulk/ingest.ts';
import { openRecords } from '../bulk/input.ts';
import { recordOf } from '../bulk/records.ts';
import type { IngestOptions } from '../bulk/report.ts';
import { reportIngest } from '../bulk/wait.ts';
import { connect } from '../client/connect.ts';
import { addHelp, type Parent } from '../commander.ts';
import { usageError } from '../errors.ts';
import * as shared from '../options.ts';
import { isObject } from '../terminal/json.ts';
import type { GlobalOptions, Terminal } from '../terminal/terminal.ts';

export function addSupport(group: Parent, term: Terminal): void {
  const command = addFileOptions(
    group
      .command('support')
      .argument('<file>', fileArgument)
      .description('Ingest support tickets from a file.'),
  );
  command.action((file, options) => ingestFile(term, 'ticket', file, options));
  addHelp(command, recordHelp('userId', 'data: { subject, comments: [{ author, content }] }'), [
    'memory ingest support ticket.json --wait',
    'memory ingest support tickets.jsonl',
  ]);
}

export function addChat(group: Parent, term: Terminal): void {
  const command = addFileOptions(
    group
      .command('chat')
      .argument('<file>', fileArgument)
      .description('Ingest conversations from a file.')
      .addOption(shared.userOption)
      .option('--title <text>', 'the title')
      .addOption(shared.sourceOption)
      .addOption(shared.externalIdOption)
      .addOption(shared.metadataOption),
  );
  command.action((file, options) => {
    const { user: userId, title, source, externalId, metadata } = options;
    const fields = shared.definedOnly({ userId, title, source, externalId, metadata });
    return ingestFile(term, 'conversation', file, options, fields);
  });
  addHelp(command, recordHelp('userId', 'data: { messages: [{ role, content }] }') + chatHelp, [
    'memory ingest chat --user u-1 messages.json --wait',
    'memory ingest chat chat.json',
  ]);
}

export function addRecord(group: Parent, term: Terminal): void {
  const command = addFileOptions(
    group
      .command('record')
      .argument('<file>', fileArgument)
      .description('Ingest any record: ticket, document, conversation, event or profile.'),
  );
  command.action((file, options) => ingestFile(term, undefined, file, options));
  addHelp(command, recordHelp('type, userId', 'data'), [
    'memory ingest record event.json',
    `echo '{"type":"event","userId":"u-1","data":{"name":"signed up"}}' | memory ingest record -`,
  ]);
}

const fileArgument = 'one record as JSON, or many as JSON Lines; - for stdin';

function recordHelp(first: string, data: string): string {
  return `
A file contains one record, or several records with one per line. With -, the
records are read from stdin. --errors-out has no effect on a single record.
Record: { ${first}, source?, externalId?, metadata?, occurredAt?, expiresAt?,
  ${data} }`;
}

const chatHelp = `
Or only the messages, as model APIs use them: [{ role, content }, …]. In this
case, the options describe the conversation.`;

function addFileOptions<Args extends unknown[], Options extends Record<string, unknown>>(
  command: Command<Args, Options, GlobalOptions>,
) {
  return command
    .addOption(shared.idempotencyKeysOption)
    .addOption(shared.errorsOutOption)
    .addOption(shared.waitOption)
    .addOption(shared.timeoutOption);
}

/** Whether the value is a list of messages, not of records, which have no role or author. */
function isMessages(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  return value.some((one) => isObject(one) && ('role' in one || 'author' in one));
}

/** The file may also be a list of the messages of a conversation with these fields. */
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
  } else if (Object.keys(fields).length > 0) {
    const message = 'Only a list of messages [{ role, content }, …] takes options such as --user.';
    throw usageError(`${message} Set these fields in the records of the file.`);
  }
  if (record === undefined || Array.isArray(record)) return runBatch(term, client, input, options);
  const call = shared.writeOptions(term, options);
  const accepted = await client.ingest.record(recordOf(record, type) as IngestRecord, call);
  await reportIngest(term, client, accepted, options);
}
