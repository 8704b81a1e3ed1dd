import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { refuseDeleted } from '../deleted.ts';
import { addExamples } from '../examples.ts';
import { usageError } from '../failure.ts';
import { textArgument } from '../input.ts';
import { hint, type Io } from '../io.ts';
import {
  given,
  idempotencyKeyOption,
  metadataOption,
  needUser,
  userOption,
  writeOptions,
} from '../options.ts';
import { lastingOutput, printResult } from '../output.ts';

export function addSave(program: Parent, io: Io): void {
  const command = program
    .command('save')
    .argument('<text>', 'what to remember, or - for stdin')
    .usage('--user <id> [options] <text>')
    .description('Save a text as a memory. Prints its id.')
    .addOption(userOption)
    .addOption(metadataOption)
    .addOption(idempotencyKeyOption);
  command.action(async (text) => {
    const options = command.optsWithGlobals();
    const userId = needUser(options.user);
    const client = await connect(io, options);
    const content = await textArgument(io, text);
    if (content === '') throw usageError('The text is empty: there is nothing to save.');
    const fields = given({ metadata: options.metadata });
    const request = { userId, content, ...fields };
    const saved = await client.save(request, writeOptions(io, options));
    refuseDeleted(saved, 'saved');
    const out = lastingOutput(io);
    await printResult(out.io, options.json, saved, saved.id);
    if (!options.json || out.hasFailed()) await hint(io, `Saved. See it: memory get ${saved.id}`);
    out.end();
  });
  addExamples(command, [
    'memory save --user u-1 "Prefers dark mode"',
    'memory save --user u-1 -m source=chat -m confidence:=0.9 "Lives in Lisbon"',
    'echo "Speaks French" | memory save --user u-1 -',
  ]);
}
