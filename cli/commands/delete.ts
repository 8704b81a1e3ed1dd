import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { addExamples } from '../examples.ts';
import { type Io, note } from '../io.ts';
import { idempotencyKeyOption, writeOptions } from '../options.ts';
import { printJson } from '../output.ts';

export function addDelete(program: Parent, io: Io): void {
  const command = program
    .command('delete <id>')
    .description('Delete a memory for good.')
    .addOption(idempotencyKeyOption);
  command.action(async (id) => {
    const options = command.optsWithGlobals();
    const client = await connect(io, options);
    await client.delete(id, writeOptions(io, options));
    if (options.json) await printJson(io, { memoryId: id, deleted: true });
    else await note(io, `Deleted ${id}.`);
  });
  addExamples(command, ['memory delete mem_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}
