import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import * as shared from '../options.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addIngestBatch(group: Parent, term: Terminal): void {
  const command = group
    .command('batch')
    .argument('<file>', 'JSON lines; - for stdin')
    .description('Ingest a JSONL file of any size, with a record of any type on each line.')
    .option('--dry-run', 'validate every line without sending anything')
    .addOption(shared.errorsOutOption)
    .addOption(shared.idempotencyKeysOption)
    .addOption(shared.waitOption)
    .addOption(shared.timeoutOption)
    .addHelpText('after', help);
  command.action(async (file) => {
    const options = command.optsWithGlobals();
    shared.refuseToOverwrite(file, options.errorsOut);
    const { openInput } = await import('../bulk/input.ts');
    const { dryRun, runBatch } = await import('../bulk/batch.ts');
    if (options.dryRun) return dryRun(term, await openInput(term, file, 'records'), options);
    const client = await connect(term, options);
    return runBatch(term, client, await openInput(term, file, 'records'), options);
  });
  addExamples(command, [
    'memory ingest batch records.jsonl --dry-run',
    'memory ingest batch records.jsonl --errors-out bad.jsonl',
    'cat records.jsonl | memory ingest batch -',
  ]);
}

const help = `
A line looks like this:
  {"type":"event","userId":"u-1","data":{"name":"signed up","plan":"pro"}}
Types: event, profile, ticket, document, conversation. The last three can be
inferred: subject and comments make a ticket, messages a conversation, text a
document. The fields of data can also be at the top level.

Invalid lines are reported and do not stop the rest. Lines with the same
externalId are sent in order, all others in any order, 500 per request.

Running the same command again creates no duplicates. Lines with an externalId
are sent again and update the same memory. All other lines are recognized for
three days by their text and position: they are skipped and counted as replayed,
even if the memory has since been changed or deleted.

To correct invalid lines, extract them from the --errors-out file, edit them and
ingest only these lines: jq -r .text bad.jsonl > corrected.jsonl. An edited copy
of the whole file would save its lines without an externalId again.`;
