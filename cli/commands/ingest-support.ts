import type { SupportRequest } from '../../sdk/index.ts';
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

export function addIngestSupport(group: Parent, io: Io): void {
  const command = group
    .command('support')
    .argument('[file]', 'one record as JSON, or many as JSON lines; - for stdin')
    .description('Ingest a support ticket: from a file, or from options.')
    .addOption(userOption)
    .option('--subject <text>', 'what the ticket is about')
    .option('--comment <author: text>', 'in their order; may be repeated', collect)
    .option('--description <text>', 'the ticket as it was opened')
    .option('--status <status>', 'as open or solved')
    .option('--priority <priority>', 'as low or urgent')
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
        '\nRecord: { userId, source?, externalId?, metadata?, data: { subject, comments } }',
    );
  command.action(async (file) => {
    const options = command.optsWithGlobals();
    const { user, subject, comment, description, status, priority } = options;
    const { source, externalId, metadata } = options;
    const fields = { user, subject, comment, description, status, priority };
    const about = given({ source, externalId, metadata });
    if (file !== undefined) {
      refuseBoth({ ...fields, ...about });
      const { ingestFile } = await import('../ingest-file.ts');
      return ingestFile(io, file, options, door);
    }
    if (user === undefined || subject === undefined) {
      throw usageError('Give a file, or --user, --subject and --comment.');
    }
    const userId = needUser(user);
    const comments = (comment ?? []).map((text) => splitSpeaker(text, '--comment', 'author'));
    const data = { subject, comments, ...given({ description, status, priority }) };
    const client = await connect(io, options);
    const request = { userId, ...about, data };
    const accepted = await client.ingest.support(request, writeOptions(io, options));
    await tellAccepted(io, client, accepted, options);
  });
  addExamples(command, [
    'memory ingest support --user u-1 --subject Refund --comment "user: Where?"',
    'memory ingest support ticket.json --wait',
    'memory ingest support tickets.jsonl',
  ]);
}

const door: Door = {
  type: 'ticket',
  // A file holds any JSON; the service says what is wrong with it.
  send: (client, record, options) => client.ingest.support(record as SupportRequest, options),
};
