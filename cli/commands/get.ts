import type { Memory } from '../../sdk/index.ts';
import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { addExamples } from '../examples.ts';
import type { Io } from '../io.ts';
import { memoryId } from '../options.ts';
import { printFields, printJson, printLine } from '../output.ts';
import { visible } from '../text.ts';

export function addGet(program: Parent, io: Io): void {
  const command = program
    .command('get')
    .addArgument(memoryId)
    .description('Show one memory, whole.');
  command.action(async (id) => {
    const options = command.optsWithGlobals();
    const client = await connect(io, options);
    const memory = await client.get(id, { signal: io.interrupted });
    await (options.json ? printJson(io, memory) : printMemory(io, memory));
  });
  addExamples(command, ['memory get mem_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}

async function printMemory(io: Io, memory: Memory): Promise<void> {
  const { content, metadata, ...rest } = memory;
  const entries = Object.keys(metadata).length;
  const fields = { ...rest, metadata: entries === 0 ? null : JSON.stringify(metadata) };
  if (!io.stdout.isTerminal) return printFields(io, { ...fields, content });
  await printFields(io, fields);
  await printLine(io, `\n${visible(content)}`);
}
