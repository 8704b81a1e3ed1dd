import type { ChatRequest } from '../../sdk/index.ts';
import { tellAccepted } from '../accepted.ts';
import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { addExamples } from '../examples.ts';
import { usageError } from '../failure.ts';
import type { Door } from '../ingest-file.ts';
import type { Io } from '../io.ts';
import {
  collect,
  errorsOutOption,
  externalIdOption,
  given,
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
import { splitSpeaker } from '../speaker.ts';

export function addIngestChat(group: Parent, io: Io): void {
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
    const about = given({ source, externalId, metadata });
    if (file !== undefined) {
      refuseBoth({ user, message, title, summary, participant, tag, ...about });
      const { ingestFile } = await import('../ingest-file.ts');
      return ingestFile(io, file, options, door);
    }
    if (user === undefined || message === undefined) {
      throw usageError('Give a file, or --user and --message.');
    }
    const userId = needUser(user);
    const messages = message.map((text) => splitSpeaker(text, '--message', 'role'));
    const data = { messages, ...given({ title, summary, participants: participant, tags: tag }) };
    const client = await connect(io, options);
    const request = { userId, ...about, data };
    const accepted = await client.ingest.chat(request, writeOptions(io, options));
    await tellAccepted(io, client, accepted, options);
  });
  addExamples(command, [
    'memory ingest chat --user u-1 --message "user: Hi" --message "agent: Hi"',
    'memory ingest chat chat.json --wait',
  ]);
}

const door: Door = {
  type: 'conversation',
  // A file holds any JSON; the service says what is wrong with it.
  send: (client, record, options) => client.ingest.chat(record as ChatRequest, options),
};
