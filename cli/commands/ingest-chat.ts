import type { ChatRequest } from '../../sdk/index.ts';
import { splitAuthor } from '../author-prefix.ts';
import type { Endpoint } from '../bulk/ingest-file.ts';
import { reportIngest } from '../bulk/ingest-report.ts';
import { connect } from '../client/connect.ts';
import { usageError } from '../client/errors.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import {
  collect,
  definedOnly,
  errorsOutOption,
  externalIdOption,
  idempotencyKeysOption,
  metadataOption,
  needUser,
  refuseBoth,
  sourceOption,
  timeoutOption,
  userOption,
  waitOption,
  writeOptions,
} from '../options.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addIngestChat(group: Parent, term: Terminal): void {
  const command = group
    .command('chat')
    .argument('[file]', 'one record as JSON, or many as JSON lines; - for stdin')
    .description('Ingest a conversation: from a file, or from options.')
    .addOption(userOption)
    .option('--message <role: text>', 'in their order; may be repeated', collect)
    .option('--title <text>', 'what it is about')
    .option('--summary <text>', 'what came of it')
    .option('--participant <name>', 'may be repeated', collect)
    .option('--tag <tag>', 'may be repeated', collect)
    .addOption(sourceOption)
    .addOption(externalIdOption)
    .addOption(metadataOption)
    .addOption(idempotencyKeysOption)
    .addOption(errorsOutOption)
    .addOption(waitOption)
    .addOption(timeoutOption)
    .addHelpText(
      'after',
      '\nA file holds one record, or several: one on each line. With - for the file it' +
        '\nis read from stdin.' +
        '\nRecord: { userId, source?, externalId?, metadata?, data: { messages } }',
    );
  command.action(async (file) => {
    const options = command.optsWithGlobals();
    const { user, message, title, summary, participant, tag } = options;
    const { source, externalId, metadata } = options;
    const about = definedOnly({ source, externalId, metadata });
    if (file !== undefined) {
      refuseBoth({ user, message, title, summary, participant, tag, ...about });
      const { ingestFile } = await import('../bulk/ingest-file.ts');
      return ingestFile(term, file, options, endpoint);
    }
    if (user === undefined || message === undefined) {
      throw usageError('Give a file, or --user and --message.');
    }
    const userId = needUser(user);
    const messages = message.map((text) => splitAuthor(text, '--message', 'role'));
    const data = {
      messages,
      ...definedOnly({ title, summary, participants: participant, tags: tag }),
    };
    const client = await connect(term, options);
    const request = { userId, ...about, data };
    const accepted = await client.ingest.chat(request, writeOptions(term, options));
    await reportIngest(term, client, accepted, options);
  });
  addExamples(command, [
    'memory ingest chat --user u-1 --message "user: Hi" --message "agent: Hi"',
    'memory ingest chat chat.json --wait',
  ]);
}

const endpoint: Endpoint = {
  type: 'conversation',
  // A file holds any JSON; the service says what is wrong with it.
  send: (client, record, options) => client.ingest.chat(record as ChatRequest, options),
};
