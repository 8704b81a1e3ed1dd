import { connect } from '../client/connect.ts';
import { rejectDeletedReplay } from '../client/deleted-replay.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { usageError } from '../errors.ts';
import * as shared from '../options.ts';
import { textArgument } from '../terminal/input.ts';
import { printResult } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';

export function addUpdate(program: Parent, term: Terminal): void {
  const command = program
    .command('update')
    .addArgument(shared.memoryId)
    .argument('[text]', 'the new text, or - for stdin')
    .description('Replace the text, metadata or times of a memory; the rest is unchanged.')
    .addOption(shared.metadataOption)
    .addOption(shared.occurredOption)
    .addOption(shared.expiryOption)
    .addOption(shared.ifVersionOption)
    .addOption(shared.idempotencyKeyOption);
  command.action(async (id, text) => {
    const options = command.optsWithGlobals();
    const fields = {
      ...shared.definedOnly({ metadata: options.metadata }),
      ...shared.timesOf(term, options),
    };
    if (text === undefined && Object.keys(fields).length === 0) {
      throw usageError('Nothing to update: pass <text>, --metadata, --occurred or --expires.');
    }
    const client = await connect(term, options);
    const content = text === undefined ? undefined : await textArgument(term, text);
    if (content === '') {
      throw usageError('The text must not be empty.', `To delete the memory: memory delete ${id}`);
    }
    const request = { ...shared.definedOnly({ content }), ...fields };
    const updated = await client.update(id, request, shared.writeOptions(term, options));
    rejectDeletedReplay(updated, 'updated');
    await printResult(term, options.json, updated, updated.id);
    if (!options.json) await note(term, 'Updated.');
  });
  addExamples(command, [
    'memory update mem_0199c2a4f1e87c3d9b5e6a7f80912b3c "Prefers light mode"',
    'memory update mem_0199c2a4f1e87c3d9b5e6a7f80912b3c "Moved" --if-version 1',
  ]);
}
