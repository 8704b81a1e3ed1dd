import type { IngestRecord } from '../../sdk/index.ts';
import type { Endpoint } from '../bulk/ingest-file.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { errorsOutOption, idempotencyKeysOption, timeoutOption, waitOption } from '../options.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addIngestRecord(group: Parent, term: Terminal): void {
  const command = group
    .command('record')
    .argument('<file>', 'one record as JSON, or many as JSON lines; - for stdin')
    .description('Ingest any record: ticket, document, conversation, event or profile.')
    .addOption(idempotencyKeysOption)
    .addOption(errorsOutOption)
    .addOption(waitOption)
    .addOption(timeoutOption)
    .addHelpText(
      'after',
      '\nA file holds one record, or several: one on each line. With - for the file it' +
        '\nis read from stdin.' +
        '\nRecord: { type, userId, source?, externalId?, metadata?, data }',
    );
  command.action(async (file) => {
    const { ingestFile } = await import('../bulk/ingest-file.ts');
    await ingestFile(term, file, command.optsWithGlobals(), endpoint);
  });
  addExamples(command, ['memory ingest record event.json']);
}

const endpoint: Endpoint = {
  // A file holds any JSON; the service says what is wrong with it.
  send: (client, record, options) => client.ingest.record(record as IngestRecord, options),
};
