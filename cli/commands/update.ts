import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { refuseDeleted } from '../deleted.ts';
import { addExamples } from '../examples.ts';
import { usageError } from '../failure.ts';
import { textArgument } from '../input.ts';
import { type Io, note } from '../io.ts';
import { given, idempotencyKeyOption, memoryId, metadataOption, writeOptions } from '../options.ts';
import { printResult } from '../output.ts';

export function addUpdate(program: Parent, io: Io): void {
  const command = program
    .command('update')
    .addArgument(memoryId)
    .argument('<text>', 'the new text, or - for stdin')
    .description('Replace the text of a memory; its metadata too, where some is given.')
    .addOption(metadataOption)
    .addOption(idempotencyKeyOption);
  command.action(async (id, text) => {
    const options = command.optsWithGlobals();
    const client = await connect(io, options);
    const content = await textArgument(io, text);
    if (content === '') {
      throw usageError('The text is empty.', `To remove the memory: memory delete ${id}`);
    }
    const request = { content, ...given({ metadata: options.metadata }) };
    const updated = await client.update(id, request, writeOptions(io, options));
    refuseDeleted(updated, 'updated');
    await printResult(io, options.json, updated, updated.id);
    if (!options.json) await note(io, 'Updated.');
  });
  addExamples(command, ['memory update mem_0199c2a4f1e87c3d9b5e6a7f80912b3c "Prefers light mode"']);
}
