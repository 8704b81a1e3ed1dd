import type { SupportRequest } from '../../sdk/index.ts';
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

export function addIngestSupport(group: Parent, term: Terminal): void {
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
    const about = definedOnly({ source, externalId, metadata });
    if (file !== undefined) {
      refuseBoth({ ...fields, ...about });
      const { ingestFile } = await import('../bulk/ingest-file.ts');
      return ingestFile(term, file, options, endpoint);
    }
    if (user === undefined || subject === undefined) {
      throw usageError('Give a file, or --user, --subject and --comment.');
    }
    const userId = needUser(user);
    const comments = (comment ?? []).map((text) => splitAuthor(text, '--comment', 'author'));
    const data = { subject, comments, ...definedOnly({ description, status, priority }) };
    const client = await connect(term, options);
    const request = { userId, ...about, data };
    const accepted = await client.ingest.support(request, writeOptions(term, options));
    await reportIngest(term, client, accepted, options);
  });
  addExamples(command, [
    'memory ingest support --user u-1 --subject Refund --comment "user: Where?"',
    'memory ingest support ticket.json --wait',
    'memory ingest support tickets.jsonl',
  ]);
}

const endpoint: Endpoint = {
  type: 'ticket',
  // A file holds any JSON; the service says what is wrong with it.
  send: (client, record, options) => client.ingest.support(record as SupportRequest, options),
};
