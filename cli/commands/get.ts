import type { Memory } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { memoryId } from '../options.ts';
import { printFields, printJson, printLine } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { escapeControls } from '../terminal/text.ts';

export function addGet(program: Parent, term: Terminal): void {
  const command = program
    .command('get')
    .addArgument(memoryId)
    .description('Show one memory in full.');
  command.action(async (id) => {
    const options = command.optsWithGlobals();
    const client = await connect(term, options);
    const memory = await client.get(id, { signal: term.interrupted });
    await (options.json ? printJson(term, memory) : printMemory(term, memory));
  });
  addExamples(command, ['memory get mem_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}

async function printMemory(term: Terminal, memory: Memory): Promise<void> {
  const { content, metadata, ...rest } = memory;
  const entries = Object.keys(metadata).length;
  const fields = { ...rest, metadata: entries === 0 ? null : JSON.stringify(metadata) };
  if (!term.stdout.isTerminal) return printFields(term, { ...fields, content });
  await printFields(term, fields);
  await printLine(term, `\n${escapeControls(content)}`);
}
