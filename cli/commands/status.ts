import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { addExamples } from '../examples.ts';
import type { Io } from '../io.ts';
import { memoryId } from '../options.ts';
import { printFields, printJson } from '../output.ts';

export function addStatus(program: Parent, io: Io): void {
  const command = program
    .command('status')
    .addArgument(memoryId)
    .description('Show how far the processing of a memory is.');
  command.action(async (id) => {
    const options = command.optsWithGlobals();
    const client = await connect(io, options);
    const status = await client.status(id, { signal: io.interrupted });
    await (options.json ? printJson(io, status) : printFields(io, status));
  });
  addExamples(command, ['memory status mem_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}
