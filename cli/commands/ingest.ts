import type { AnyCommand, Parent } from '../commander.ts';
import { usageError } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { addIngestBatch } from './ingest-batch.ts';
import { addIngestDocument } from './ingest-document.ts';
import { addIngestChat, addIngestRecord, addIngestSupport } from './ingest-records.ts';

export function addIngest(program: Parent, term: Terminal): void {
  const group = program
    .command('ingest')
    .description('Turn tickets, documents and conversations into memories.')
    .helpCommand('help [command]', 'Show help for a command.')
    .addHelpText(
      'after',
      '\nEach command returns as soon as the record is durably queued. To wait for' +
        '\nprocessing, add --wait or use memory wait <id>.',
    );
  group.hook('preAction', (_, command) => refuseIdleTimeout(command));
  addIngestSupport(group, term);
  addIngestDocument(group, term);
  addIngestChat(group, term);
  addIngestRecord(group, term);
  addIngestBatch(group, term);
}

/** Rejects --timeout without --wait, because it would be ignored. */
function refuseIdleTimeout(command: AnyCommand): void {
  if (command.opts().wait || command.getOptionValueSource('timeout') !== 'cli') return;
  throw usageError('--timeout requires --wait: add --wait, or omit --timeout.');
}
