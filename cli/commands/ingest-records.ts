import type { Command } from '@commander-js/extra-typings';
import type { IngestRecord, MemoryClient, Metadata, RecordType } from '../../sdk/index.ts';
import { runBatch } from '../bulk/ingest.ts';
import { openRecords } from '../bulk/input.ts';
import { ofType, recognized } from '../bulk/records.ts';
import type { IngestOptions } from '../bulk/report.ts';
import { reportIngest } from '../bulk/wait.ts';
import { connect } from '../client/connect.ts';
import { type AnyCommand, addExamples, type Parent } from '../commander.ts';
import { CliError, usageError } from '../errors.ts';
import * as shared from '../options.ts';
import { isObject } from '../terminal/json.ts';
import type { GlobalOptions, Terminal } from '../terminal/terminal.ts';

export function addSupport(group: Parent, term: Terminal): void {
  const ticket = group
    .command('support')
    .argument('[file]', fileArgument)
    .description('Ingest a support ticket from a file or from options.')
    .addOption(shared.userOption)
    .option('--subject <text>', 'the subject of the ticket')
    .option(
      '--comment <author: text>',
      'a comment; may be repeated, and the order is kept',
      collectTurns('--comment', 'author'),
    )
    .option('--status <status>', 'the status, for example open or solved')
    .option('--priority <priority>', 'the priority, for example low or urgent')
    .addOption(shared.sourceOption)
    .addOption(shared.externalIdOption)
    .addOption(shared.metadataOption);
  const command = addFileOptions(ticket, `{ ${recordFields}, data: { subject, comments } }`);
  command.action(async (file, options) => {
    if (file !== undefined) return ingestFile(term, command, 'ticket', file);
    const { subject, comment: comments = [], status, priority } = options;
    if (subject === undefined) throw usageError('Pass a file, or --subject.');
    const data = { subject, comments, status, priority };
    const client = await connect(term);
    await send(term, client, 'ticket', recordOf(data, options), options);
  });
  addExamples(command, [
    'memory ingest support --user u-1 --subject Refund --comment "user: Where?"',
    'memory ingest support ticket.json --wait',
    'memory ingest support tickets.jsonl',
  ]);
}

export function addChat(group: Parent, term: Terminal): void {
  const conversation = group
    .command('chat')
    .argument('[file]', fileArgument)
    .description('Ingest a conversation from a file or from options.')
    .addOption(shared.userOption)
    .option(
      '--message <role: text>',
      'a message; may be repeated, and the order is kept',
      collectTurns('--message', 'role'),
    )
    .option('--title <text>', 'the title')
    .addOption(shared.sourceOption)
    .addOption(shared.externalIdOption)
    .addOption(shared.metadataOption);
  const command = addFileOptions(
    conversation,
    `{ ${recordFields}, data: { messages } }${chatHelp}`,
  );
  command.action(async (file, options) => {
    const { message, title } = options;
    const ofMessages = (messages: unknown) => recordOf({ messages, title }, options);
    if (file === undefined) {
      if (message === undefined) throw usageError('Pass a file, or --message.');
      return send(term, await connect(term), 'conversation', ofMessages(message), options);
    }
    if (message !== undefined) throw usageError('Pass either a file or --message.');
    return ingestFile(term, command, 'conversation', file, ofMessages);
  });
  addExamples(command, [
    'memory ingest chat --user u-1 --message "user: Hi" --message "agent: Hi"',
    'memory ingest chat --user u-1 messages.json --wait',
    'memory ingest chat chat.json',
  ]);
}

export function addRecord(group: Parent, term: Terminal): void {
  const record = group
    .command('record')
    .argument('<file>', fileArgument)
    .description('Ingest any record: ticket, document, conversation, event or profile.');
  const command = addFileOptions(record, `{ type, ${recordFields}, data }`);
  command.action((file) => ingestFile(term, command, undefined, file));
  addExamples(command, ['memory ingest record event.json']);
}

const fileArgument = 'one record as JSON, or many as JSON Lines; - for stdin';
const fileHelp = `
A file contains one record, or several records with one per line. With -, the
records are read from stdin. --errors-out has no effect on a single record.
Record: `;
const chatHelp = `
Or only the messages, as model APIs use them: [{ role, content }, …]. In this
case, the options describe the conversation.`;
const recordFields = 'userId, source?, externalId?, metadata?,\n  occurredAt?, expiresAt?';

function addFileOptions<Args extends unknown[], Options extends Record<string, unknown>>(
  command: Command<Args, Options, GlobalOptions>,
  record: string,
) {
  command.addHelpText('after', fileHelp + record);
  return command
    .addOption(shared.idempotencyKeysOption)
    .addOption(shared.errorsOutOption)
    .addOption(shared.waitOption)
    .addOption(shared.timeoutOption);
}

/** Returns a parser for values such as `user: Where is it?`. It stores `user` under `field`. */
function collectTurns(option: string, field: 'author' | 'role') {
  return (text: string, previous: Record<string, string>[] | undefined) => {
    const [, speaker = '', content = ''] = /^\s*([^:]*[^:\s])\s*:\s*(.+)$/s.exec(text) ?? [];
    if (content !== '') return [...(previous ?? []), { [field]: speaker, content }];
    const hint = `For example: ${option} "user: Where is it?"`;
    throw usageError(`${option} must be "<${field}>: <text>", not "${text}".`, hint);
  };
}

type RecordOptions = IngestOptions & {
  user?: string | undefined;
  source?: string | undefined;
  externalId?: string | undefined;
  metadata?: Metadata | undefined;
};

function recordOf(data: object, { user: userId, source, externalId, metadata }: RecordOptions) {
  return { userId, source, externalId, metadata, data };
}

/** Whether the value is a list of messages, not of records, which have no role or author. */
function isMessages(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  return value.some((one) => isObject(one) && ('role' in one || 'author' in one));
}

/** With `ofMessages`, the file may also be a list of messages, which it converts to a record. */
async function ingestFile(
  term: Terminal,
  command: { opts(): IngestOptions } & AnyCommand,
  type: RecordType | undefined,
  path: string,
  ofMessages?: (messages: unknown) => unknown,
): Promise<void> {
  const options = command.opts();
  if (ofMessages === undefined) rejectRecordOptions(command);
  shared.rejectOverwrite(term, path, options.errorsOut);
  const client = await connect(term);
  const input = await openRecords(term, path, type);
  const { json } = input;
  const isChat = ofMessages !== undefined && isMessages(json);
  if (isChat) return send(term, client, type, ofMessages(json), options);
  const isList = Array.isArray(json);
  rejectRecordOptions(command, ofMessages !== undefined && isList);
  if (json === undefined || isList) return runBatch(term, client, input, options);
  await send(term, client, type, json, options);
}

/** Sends one record. A file may contain any JSON; the service validates it. */
async function send(
  term: Terminal,
  client: MemoryClient,
  type: RecordType | undefined,
  json: unknown,
  options: IngestOptions,
): Promise<void> {
  if (isObject(json) && type !== undefined && (json.type ?? type) !== type) {
    const hint = 'To ingest a record of any type: memory ingest record <file>';
    throw new CliError('invalid_request', `The record must be of type ${type}.`, hint);
  }
  const record = isObject(json) && type !== undefined ? ofType(json, type) : recognized(json);
  const call = shared.writeOptions(term, options);
  const accepted = await client.ingest.record(record as IngestRecord, call);
  await reportIngest(term, client, accepted, options);
}

const fileOptions = ['idempotencyKey', 'errorsOut', 'wait', 'timeout'];

/** Rejects record options combined with a file, because it is unclear which takes precedence. */
function rejectRecordOptions(command: AnyCommand, isList = false): void {
  const given = command.options.filter((one) => {
    const name = one.attributeName();
    return !fileOptions.includes(name) && command.getOptionValue(name) !== undefined;
  });
  if (given.length === 0) return;
  const names = given.map(({ long }) => long).join(', ');
  if (isList) {
    const found = 'The list in the file has no messages with a role or an author.';
    throw usageError(`${found} If it contains records, omit ${names}.`);
  }
  throw usageError(`The record is read from the file: set its fields there, and omit ${names}.`);
}
