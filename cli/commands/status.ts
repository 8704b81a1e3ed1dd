import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { memoryId } from '../options.ts';
import { printFields, printJson } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addStatus(program: Parent, term: Terminal): void {
  const command = program
    .command('status')
    .addArgument(memoryId)
    .description('Show the processing status of a memory.');
  command.action(async (id) => {
    const options = command.optsWithGlobals();
    const client = await connect(term, options);
    const status = await client.status(id, { signal: term.interrupted });
    await (options.json ? printJson(term, status) : printFields(term, status));
  });
  addExamples(command, ['memory status mem_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}
