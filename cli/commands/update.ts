import { connect } from '../client/connect.ts';
import { rejectDeletedReplay } from '../client/deleted-replay.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { usageError } from '../errors.ts';
import {
  definedOnly,
  expiryOption,
  idempotencyKeyOption,
  ifVersionOption,
  memoryId,
  metadataOption,
  occurredOption,
  timesOf,
  writeOptions,
} from '../options.ts';
import { textArgument } from '../terminal/input.ts';
import { printResult } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';

export function addUpdate(program: Parent, term: Terminal): void {
  const command = program
    .command('update')
    .addArgument(memoryId)
    .argument('[text]', 'the new text, or - for stdin')
    .description(
      'Replace the text, the metadata or the times of a memory; what is not given stays.',
    )
    .addOption(metadataOption)
    .addOption(occurredOption)
    .addOption(expiryOption)
    .addOption(ifVersionOption)
    .addOption(idempotencyKeyOption);
  command.action(async (id, text) => {
    const options = command.optsWithGlobals();
    const fields = { ...definedOnly({ metadata: options.metadata }), ...timesOf(term, options) };
    if (text === undefined && Object.keys(fields).length === 0) {
      throw usageError('Missing <text>, --metadata, --occurred or --expires: what to replace.');
    }
    const client = await connect(term, options);
    const content = text === undefined ? undefined : await textArgument(term, text);
    if (content === '') {
      throw usageError('The text is empty.', `To remove the memory: memory delete ${id}`);
    }
    const request = { ...definedOnly({ content }), ...fields };
    const updated = await client.update(id, request, writeOptions(term, options));
    rejectDeletedReplay(updated, 'updated');
    await printResult(term, options.json, updated, updated.id);
    if (!options.json) await note(term, 'Updated.');
  });
  addExamples(command, [
    'memory update mem_0199c2a4f1e87c3d9b5e6a7f80912b3c "Prefers light mode"',
    'memory update mem_0199c2a4f1e87c3d9b5e6a7f80912b3c "Moved" --if-version 1',
  ]);
}
