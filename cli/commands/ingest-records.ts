import type {
  Accepted,
  CallOptions,
  ChatRequest,
  IngestRecord,
  MemoryClient,
  Metadata,
  RecordType,
  SupportRequest,
} from '../../sdk/index.ts';
import { runBatch } from '../bulk/batch.ts';
import { openRecords } from '../bulk/input.ts';
import { type BulkOptions, reportIngest } from '../bulk/wait.ts';
import { connect } from '../client/connect.ts';
import {
  type AnyCommand,
  type AnyOption,
  addExamples,
  addNotes,
  type GlobalOptions,
  Option,
  type Parent,
} from '../commander.ts';
import { CliError, usageError } from '../errors.ts';
import * as shared from '../options.ts';
import { rejectOverwrite, writeOptions } from '../options.ts';
import { inputName } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';

/* Ingests tickets and conversations from options, and records of any type from files. */

const { definedOnly } = shared;

export const externalIdOption = shared.externalIdOptionFor(
  'ingesting the same id again updates the memory',
);

type Fields = Record<string, unknown>;

type Kind = {
  name: string;
  description: string;
  options: AnyOption[];
  shape: string;
  needs: string;
  /** Returns undefined if a required option is missing. */
  dataOf(fields: Fields): object | undefined;
  endpoint: Endpoint;
  examples: string[];
};

// The type assertions below are unchecked: a file may contain any JSON, and the service checks it.
export const support: Kind = {
  name: 'support',
  description: 'Ingest a support ticket from a file or from options.',
  options: [
    new Option('--subject <text>', 'the subject of the ticket'),
    shared.option(
      '--comment <author: text>',
      'a comment; may be repeated, in order',
      addTurn('author'),
    ),
    new Option('--description <text>', 'the original request'),
    new Option('--status <status>', 'for example open or solved'),
    new Option('--priority <priority>', 'for example low or urgent'),
  ],
  shape: '{ subject, comments }',
  needs: '--user, --subject and --comment',
  dataOf: ({ comment: comments = [], ...rest }) =>
    rest.subject === undefined ? undefined : { comments, ...definedOnly(rest) },
  endpoint: {
    type: 'ticket',
    send: (client, record, options) => client.ingest.support(record as SupportRequest, options),
  },
  examples: [
    'memory ingest support --user u-1 --subject Refund --comment "user: Where?"',
    'memory ingest support ticket.json --wait',
    'memory ingest support tickets.jsonl',
  ],
};

export const chat: Kind = {
  name: 'chat',
  description: 'Ingest a conversation from a file or from options.',
  options: [
    shared.option(
      '--message <role: text>',
      'a message; may be repeated, in order',
      addTurn('role'),
    ),
    new Option('--title <text>', 'the title'),
    new Option('--summary <text>', 'a summary'),
    shared.option('--participant <name>', 'a participant; may be repeated', shared.collect),
    shared.option('--tag <tag>', 'a tag; may be repeated', shared.collect),
  ],
  shape: '{ messages }',
  needs: '--user and --message',
  dataOf: ({ message: messages, participant: participants, tag: tags, ...rest }) =>
    messages === undefined ? undefined : definedOnly({ messages, ...rest, participants, tags }),
  endpoint: {
    type: 'conversation',
    send: (client, record, options) => client.ingest.chat(record as ChatRequest, options),
  },
  examples: [
    'memory ingest chat --user u-1 --message "user: Hi" --message "agent: Hi"',
    'memory ingest chat chat.json --wait',
  ],
};

const anyRecord: Endpoint = {
  send: (client, record, options) => client.ingest.record(record as IngestRecord, options),
};

export function addIngestRecord(group: Parent, term: Terminal): void {
  const command: AnyCommand = group
    .command('record')
    .argument('<file>', fileArgument)
    .description('Ingest any record: ticket, document, conversation, event or profile.');
  addFileOptions(command, '{ type, userId, source?, externalId?, metadata?, data }');
  command.action(async () => {
    const { ingestFile } = await import('./ingest-records.ts');
    const [file = '-'] = command.args;
    await ingestFile(term, file, optionsOf(command), anyRecord);
  });
  addExamples(command, ['memory ingest record event.json']);
}

type About = { user?: string; source?: string; externalId?: string; metadata?: Metadata };

export function addIngestKind(group: Parent, term: Terminal, kind: Kind): void {
  const { name, description, options, shape, needs, endpoint, examples } = kind;
  const command: AnyCommand = group
    .command(name)
    .argument('[file]', fileArgument)
    .description(description);
  const { userOption, sourceOption, metadataOption } = shared;
  const ofRecord = [userOption, ...options, sourceOption, externalIdOption, metadataOption];
  for (const option of ofRecord) command.addOption(option);
  addFileOptions(command, `{ userId, source?, externalId?, metadata?, data: ${shape} }`);
  command.action(async () => {
    const [file] = command.args;
    const all = optionsOf(command);
    const { user, source, externalId, metadata } = all;
    const given = (one: AnyOption) => command.getOptionValue(one.attributeName());
    if (file !== undefined) {
      rejectRecordOptions(ofRecord.filter((one) => given(one) !== undefined));
      const { ingestFile } = await import('./ingest-records.ts');
      return ingestFile(term, file, all, endpoint);
    }
    const fields = Object.fromEntries(options.map((one) => [one.attributeName(), given(one)]));
    const data = user === undefined ? undefined : kind.dataOf(fields);
    if (data === undefined) throw usageError(`Pass a file, or ${needs}.`);
    const userId = shared.needUser(user);
    const record = { userId, ...definedOnly({ source, externalId, metadata }), data };
    const client = await connect(term, all);
    const accepted = await endpoint.send(client, record, shared.writeOptions(term, all));
    await reportIngest(term, client, accepted, all);
  });
  addExamples(command, examples);
}

function optionsOf(command: AnyCommand): FileOptions & About {
  return command.optsWithGlobals() as FileOptions & About;
}

const fileArgument = 'one record as JSON, or many as JSON lines; - for stdin';

function addFileOptions(command: AnyCommand, record: string): void {
  const { idempotencyKeysOption, errorsOutOption, waitOption, timeoutOption } = shared;
  for (const option of [idempotencyKeysOption, errorsOutOption, waitOption, timeoutOption]) {
    command.addOption(option);
  }
  const help = `
A file contains one record, or several records, one per line. With -, the
records are read from stdin.
Record: ${record}`;
  addNotes(command, help);
}

type Turn = { content: string } & ({ author: string } | { role: string });

/** Collects values such as `user: Where is it?`, split into author and text. */
function addTurn(name: 'author' | 'role') {
  const option = name === 'author' ? '--comment' : '--message';
  return (text: string, previous: Turn[] | undefined): Turn[] => {
    const [, who = '', content = ''] = /^\s*([^:]*[^:\s])\s*:\s*(.+)$/s.exec(text) ?? [];
    const turn = name === 'author' ? { author: who, content } : { role: who, content };
    if (content !== '') return [...(previous ?? []), turn];
    const hint = `For example: ${option} "user: Where is it?"`;
    throw usageError(`${option} must be "<${name}>: <text>", not "${text}".`, hint);
  };
}

/** Rejects record options together with a file, because their precedence would be unclear. */
function rejectRecordOptions(options: AnyOption[]): void {
  if (options.length === 0) return;
  throw usageError(
    `The record is read from the file: omit ${options.map(({ long }) => long).join(', ')}.`,
    'The fields of a record are userId, source, externalId, metadata and data.',
  );
}

export type FileOptions = GlobalOptions & BulkOptions;

/** The endpoint for a single record. If `type` is set, the records do not need a type. */
export type Endpoint = {
  type?: RecordType;
  send(client: MemoryClient, record: unknown, options: CallOptions): Promise<Accepted>;
};

export async function ingestFile(
  term: Terminal,
  path: string,
  options: FileOptions,
  endpoint: Endpoint,
): Promise<void> {
  rejectOverwrite(path, options.errorsOut);
  const client = await connect(term, options);
  const input = await openRecords(term, path);
  const { type } = endpoint;
  if ('lines' in input) return runBatch(term, client, input, { ...options, type });
  const record = withoutType(input.record, path, type);
  const accepted = await endpoint.send(client, record, writeOptions(term, options));
  await reportIngest(term, client, accepted, options);
}

function withoutType(record: unknown, path: string, type: RecordType | undefined): unknown {
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
