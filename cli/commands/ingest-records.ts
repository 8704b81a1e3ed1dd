import type { ChatRequest, IngestRecord, Metadata, SupportRequest } from '../../sdk/index.ts';
import type { Endpoint, FileOptions } from '../bulk/ingest-file.ts';
import { reportIngest } from '../bulk/ingest-report.ts';
import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import { type AnyCommand, type AnyOption, Option, type Parent } from '../commander.ts';
import { usageError } from '../errors.ts';
import * as shared from '../options.ts';
import type { Terminal } from '../terminal/terminal.ts';

/* Tickets, conversations and any other record: from a file, the first two also from options. */

const { definedOnly } = shared;

type Kind<Fields> = {
  name: string;
  description: string;
  options: AnyOption[];
  /** What `data` holds in a file. */
  shape: string;
  /** What has to be given where no file is. */
  needs: string;
  /** Undefined where something that it needs was not given. */
  dataOf(fields: Fields): object | undefined;
  endpoint: Endpoint;
  examples: string[];
};

type Support = { subject?: string; comment?: string[]; [name: string]: unknown };

// A file holds any JSON; the service says what is wrong with it.
const support: Kind<Support> = {
  name: 'support',
  description: 'Ingest a support ticket: from a file, or from options.',
  options: [
    new Option('--subject <text>', 'what the ticket is about'),
    repeated('--comment <author: text>', 'in their order; may be repeated'),
    new Option('--description <text>', 'the ticket as it was opened'),
    new Option('--status <status>', 'as open or solved'),
    new Option('--priority <priority>', 'as low or urgent'),
  ],
  shape: '{ subject, comments }',
  needs: '--user, --subject and --comment',
  dataOf({ subject, comment = [], ...rest }) {
    if (subject === undefined) return undefined;
    const comments = comment.map((text) => splitAuthor(text, '--comment', 'author'));
    return { subject, comments, ...definedOnly(rest) };
  },
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

type Chat = {
  message?: string[];
  participant?: string[];
  tag?: string[];
  [name: string]: unknown;
};

const chat: Kind<Chat> = {
  name: 'chat',
  description: 'Ingest a conversation: from a file, or from options.',
  options: [
    repeated('--message <role: text>', 'in their order; may be repeated'),
    new Option('--title <text>', 'what it is about'),
    new Option('--summary <text>', 'what came of it'),
    repeated('--participant <name>', 'may be repeated'),
    repeated('--tag <tag>', 'may be repeated'),
  ],
  shape: '{ messages }',
  needs: '--user and --message',
  dataOf({ message, participant: participants, tag: tags, ...rest }) {
    const messages = message?.map((text) => splitAuthor(text, '--message', 'role'));
    return messages && { messages, ...definedOnly({ ...rest, participants, tags }) };
  },
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

export function addIngestSupport(group: Parent, term: Terminal): void {
  addKind(group, term, support);
}

export function addIngestChat(group: Parent, term: Terminal): void {
  addKind(group, term, chat);
}

export function addIngestRecord(group: Parent, term: Terminal): void {
  const command: AnyCommand = group
    .command('record')
    .argument('<file>', fileArgument)
    .description('Ingest any record: ticket, document, conversation, event or profile.');
  addFileOptions(command, '{ type, userId, source?, externalId?, metadata?, data }');
  command.action(async () => {
    const { ingestFile } = await import('../bulk/ingest-file.ts');
    const [file = '-'] = command.args;
    await ingestFile(term, file, optionsOf(command), anyRecord);
  });
  addExamples(command, ['memory ingest record event.json']);
}

type About = { user?: string; source?: string; externalId?: string; metadata?: Metadata };

function addKind<Fields>(group: Parent, term: Terminal, kind: Kind<Fields>): void {
  const { name, description, options, shape, needs, endpoint, examples } = kind;
  const command: AnyCommand = group
    .command(name)
    .argument('[file]', fileArgument)
    .description(description);
  const { userOption, sourceOption, externalIdOption, metadataOption } = shared;
  const about = [sourceOption, externalIdOption, metadataOption];
  for (const option of [userOption, ...options, ...about]) command.addOption(option);
  addFileOptions(command, `{ userId, source?, externalId?, metadata?, data: ${shape} }`);
  command.action(async () => {
    const [file] = command.args;
    const all = optionsOf(command);
    const { user, source, externalId, metadata } = all;
    const fields = valuesOf(command, options);
    if (file !== undefined) {
      shared.refuseBoth({ user, ...fields, source, externalId, metadata });
      const { ingestFile } = await import('../bulk/ingest-file.ts');
      return ingestFile(term, file, all, endpoint);
    }
    const data = user === undefined ? undefined : kind.dataOf(fields as Fields);
    if (data === undefined) throw usageError(`Give a file, or ${needs}.`);
    const record = { ...definedOnly({ source, externalId, metadata }), data };
    const request = { userId: shared.needUser(user), ...record };
    const client = await connect(term, all);
    const accepted = await endpoint.send(client, request, shared.writeOptions(term, all));
    await reportIngest(term, client, accepted, all);
  });
  addExamples(command, examples);
}

/** What commander has read by the options above. */
function optionsOf(command: AnyCommand): FileOptions & About {
  return command.optsWithGlobals() as FileOptions & About;
}

function valuesOf(command: AnyCommand, options: AnyOption[]): Record<string, unknown> {
  const values = command.opts();
  return Object.fromEntries(
    options.map((one) => [one.attributeName(), values[one.attributeName()]]),
  );
}

const fileArgument = 'one record as JSON, or many as JSON lines; - for stdin';

function addFileOptions(command: AnyCommand, record: string): void {
  const { idempotencyKeysOption, errorsOutOption, waitOption, timeoutOption } = shared;
  for (const option of [idempotencyKeysOption, errorsOutOption, waitOption, timeoutOption]) {
    command.addOption(option);
  }
  const help =
    '\nA file holds one record, or several: one on each line. With - for the file it' +
    `\nis read from stdin.\nRecord: ${record}`;
  command.addHelpText('after', help);
}

function repeated(flags: string, description: string): AnyOption {
  return new Option(flags, description).argParser(shared.collect);
}

/** Splits `user: Where is it?` into author and content. */
function splitAuthor(text: string, option: string, name: 'author' | 'role') {
  const [, author, content] = /^\s*([^:]*[^:\s])\s*:\s*(.+)$/s.exec(text) ?? [];
  if (author !== undefined && content !== undefined) return { [name]: author, content };
  throw usageError(
    `${option} "${text}" names no author.`,
    `Write it as: ${option} "user: Where is it?"`,
  );
}
