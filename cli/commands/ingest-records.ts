import type { Command } from '@commander-js/extra-typings';
import type { MemoryClient, Metadata } from '../../sdk/index.ts';
import { runBatch } from '../bulk/batch.ts';
import { openRecords } from '../bulk/input.ts';
import { type BulkOptions, reportIngest } from '../bulk/wait.ts';
import { connect } from '../client/connect.ts';
import {
  type AnyCommand,
  addExamples,
  addNotes,
  type GlobalOptions,
  type Parent,
} from '../commander.ts';
import { CliError, usageError } from '../errors.ts';
import * as shared from '../options.ts';
import { inputName } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';

/* Ingests tickets and conversations from options, and records of any type from files. */

/** The type of each command's records. For `ingest record`, each record states its own type. */
const types = { support: 'ticket', chat: 'conversation', record: undefined } as const;
type Kind = keyof typeof types;

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
    .option('--description <text>', 'the original request')
    .option('--status <status>', 'the status, for example open or solved')
    .option('--priority <priority>', 'the priority, for example low or urgent')
    .addOption(shared.sourceOption)
    .addOption(shared.externalIdOption)
    .addOption(shared.metadataOption);
  const command = addFileOptions(ticket, `{ ${recordFields}, data: { subject, comments } }`);
  command.action(async (file) => {
    const options = command.optsWithGlobals();
    if (file !== undefined) return ingestFile(term, command, 'support', file, options);
    const { subject, comment: comments = [], description, status, priority } = options;
    if (subject === undefined) throw usageError('Pass a file, or --subject.');
    const data = { subject, comments, description, status, priority };
    await ingestData(term, 'support', data, options);
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
    .option('--summary <text>', 'a summary')
    .option('--participant <name>', 'a participant; may be repeated', shared.collect)
    .option('--tag <tag>', 'a tag; may be repeated', shared.collect)
    .addOption(shared.sourceOption)
    .addOption(shared.externalIdOption)
    .addOption(shared.metadataOption);
  const command = addFileOptions(conversation, `{ ${recordFields}, data: { messages } }`);
  command.action(async (file) => {
    const options = command.optsWithGlobals();
    if (file !== undefined) return ingestFile(term, command, 'chat', file, options);
    const { message: messages, participant: participants, tag: tags } = options;
    if (messages === undefined) throw usageError('Pass a file, or --message.');
    const { title, summary } = options;
    await ingestData(term, 'chat', { messages, title, summary, participants, tags }, options);
  });
  addExamples(command, [
    'memory ingest chat --user u-1 --message "user: Hi" --message "agent: Hi"',
    'memory ingest chat chat.json --wait',
  ]);
}

export function addRecord(group: Parent, term: Terminal): void {
  const record = group
    .command('record')
    .argument('<file>', fileArgument)
    .description('Ingest any record: ticket, document, conversation, event or profile.');
  const command = addFileOptions(record, `{ type, ${recordFields}, data }`);
  command.action((file) => ingestFile(term, command, 'record', file, command.optsWithGlobals()));
  addExamples(command, ['memory ingest record event.json']);
}

const fileArgument = 'one record as JSON, or many as JSON Lines; - for stdin';
const fileHelp = `
A file contains one record, or several records with one per line. With -, the
records are read from stdin.
Record: `;
const recordFields = 'userId, source?, externalId?, metadata?,\n  occurredAt?, expiresAt?';

function addFileOptions<Args extends unknown[], Options extends Record<string, unknown>>(
  command: Command<Args, Options, GlobalOptions>,
  record: string,
) {
  addNotes(command, fileHelp + record);
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

type FileOptions = GlobalOptions & BulkOptions;
type RecordOptions = FileOptions & {
  user?: string | undefined;
  source?: string | undefined;
  externalId?: string | undefined;
  metadata?: Metadata | undefined;
};

async function ingestData(term: Terminal, kind: Kind, data: object, options: RecordOptions) {
  const { user: userId, source, externalId, metadata } = options;
  const record = { userId, source, externalId, metadata, data };
  await send(term, await connect(term, options), kind, record, options);
}

async function ingestFile(
  term: Terminal,
  command: AnyCommand,
  kind: Kind,
  path: string,
  options: FileOptions,
): Promise<void> {
  rejectRecordOptions(command);
  shared.rejectOverwrite(path, options.errorsOut);
  const client = await connect(term, options);
  const input = await openRecords(term, path);
  if ('lines' in input) return runBatch(term, client, input, { ...options, type: types[kind] });
  await send(term, client, kind, withoutType(input.record, path, kind), options);
}

async function send(
  term: Terminal,
  client: MemoryClient,
  kind: Kind,
  record: unknown,
  options: FileOptions,
): Promise<void> {
  const call = shared.writeOptions(term, options);
  // Unchecked: a file may contain any JSON, and the service validates it.
  const accepted = await client.ingest[kind](record as never, call);
  await reportIngest(term, client, accepted, options);
}

const fileOptions = ['idempotencyKey', 'errorsOut', 'wait', 'timeout'];

/** Rejects record options combined with a file, because it is unclear which takes precedence. */
function rejectRecordOptions(command: AnyCommand): void {
  const given = command.options.filter((one) => {
    const name = one.attributeName();
    return !fileOptions.includes(name) && command.getOptionValue(name) !== undefined;
  });
  if (given.length === 0) return;
  throw usageError(
    `The record is read from the file: omit ${given.map(({ long }) => long).join(', ')}.`,
    'A record has userId, source, externalId, metadata, occurredAt, expiresAt and data.',
  );
}

function withoutType(record: unknown, path: string, kind: Kind): unknown {
  const type = types[kind];
  const named = typeof record === 'object' && record !== null && 'type' in record;
  if (type === undefined || !named) return record;
  const { type: own, ...rest } = record;
  if (own === type) return rest;
  throw new CliError(
    'invalid_request',
    `${inputName(path)} contains a record of type ${JSON.stringify(own)}, not ${type}.`,
    `To ingest a record of any type: memory ingest record ${path}`,
  );
}
