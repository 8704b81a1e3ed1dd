import type { Parent } from '../commander.ts';
import type { Io } from '../io.ts';
import { addIngestBatch } from './ingest-batch.ts';
import { addIngestChat } from './ingest-chat.ts';
import { addIngestDocument } from './ingest-document.ts';
import { addIngestRecord } from './ingest-record.ts';
import { addIngestSupport } from './ingest-support.ts';

export function addIngest(program: Parent, io: Io): void {
  const group = program
    .command('ingest')
    .description('Turn tickets, documents and conversations into memories.')
    .helpCommand('help [command]', 'Show the help of a command.')
    .addHelpText(
      'after',
      '\nEvery ingest answers as soon as the record is safely queued. Processing happens' +
        '\nafter that: add --wait, or use memory wait <id>.',
    );
  addIngestSupport(group, io);
  addIngestDocument(group, io);
  addIngestChat(group, io);
  addIngestRecord(group, io);
  addIngestBatch(group, io);
}
