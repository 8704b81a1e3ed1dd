import { connect } from '../client/connect.ts';
import { rejectDeletedReplay } from '../client/deleted-replay.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { usageError } from '../errors.ts';
import * as shared from '../options.ts';
import { textArgument } from '../terminal/input.ts';
import { printResult, resilientOutput } from '../terminal/output.ts';
import { hint, type Terminal } from '../terminal/terminal.ts';

export function addSave(program: Parent, term: Terminal): void {
  const command = program
    .command('save')
    .argument('<text>', 'the text to save, or - for stdin')
    .usage('--user <id> [options] <text>')
    .description('Save text as a memory and print its id.')
    .addOption(shared.userOption)
    .addOption(shared.metadataOption)
    .addOption(shared.sourceOption)
    .addOption(shared.nameOption)
    .addOption(shared.occurredOption)
    .addOption(shared.expiryOption)
    .addOption(shared.idempotencyKeyOption);
  command.action(async (text) => {
    const options = command.optsWithGlobals();
    const userId = shared.needUser(options.user);
    const client = await connect(term, options);
    const content = await textArgument(term, text);
    if (content === '') throw usageError('The text must not be empty.');
    const { metadata, source, externalId } = options;
    const fields = shared.definedOnly({ metadata, source, externalId });
    const request = { userId, content, ...fields, ...shared.timesOf(term, options) };
    const saved = await client.save(request, shared.writeOptions(term, options));
    rejectDeletedReplay(saved, 'saved');
    const out = resilientOutput(term);
    await printResult(out.term, options.json, saved, saved.id);
    if (!options.json || out.hasFailed())
      await hint(term, `Saved. To show it: memory get ${saved.id}`);
    out.end();
  });
  addExamples(command, [
    'memory save --user u-1 "Prefers dark mode"',
    'memory save --user u-1 -m source=chat -m confidence:=0.9 "Lives in Lisbon"',
    'memory save --user u-1 --source agent --external-id diet "Is vegetarian"',
    'memory save --user u-1 --occurred 2026-05-08 --expires 30d "At Hotel Bern"',
    'echo "Speaks French" | memory save --user u-1 -',
  ]);
}
