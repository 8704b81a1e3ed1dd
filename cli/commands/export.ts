import { connect } from '../client/connect.ts';
import { addExamples, addNotes } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { definedOnly, needUser, userOptionFor } from '../options.ts';
import { OutputClosed } from '../terminal/process-output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { memoriesOf, toJson } from '../terminal/text.ts';

export function addExport(program: Parent, term: Terminal): void {
  const command = program
    .command('export')
    .description('Print every memory of the project as JSON lines.')
    .addOption(userOptionFor('only memories of this user'));
  command.action(async () => {
    const options = command.optsWithGlobals();
    const userId = options.user === undefined ? undefined : needUser(options.user);
    const client = await connect(term, options);
    const memories = client.export(definedOnly({ userId }), { signal: term.interrupted });
    const { count, error } = await printLines(term, memories);
    if (error instanceof OutputClosed) throw error;
    const exported = memoriesOf(count);
    if (error !== undefined)
      await note(term, `Stopped after ${exported}: the export is incomplete.`);
    if (error !== undefined) throw error;
    if (!options.json) await note(term, `Exported ${exported}.`);
  });
  addNotes(command, '\nmemory import reads these lines, on the same or on another service.');
  addExamples(command, [
    'memory export > memories.jsonl',
    'memory export --user u-1 | gzip > u-1.jsonl.gz',
  ]);
}

/** Lines are written in batches, because a system call per line would dominate the run time. */
const writtenAtOnce = 64 * 1024;

/** Prints the values as JSON lines, including those that were read before an error. */
async function printLines(term: Terminal, values: AsyncIterable<object>) {
  let [count, lines] = [0, ''];
  const write = async () => {
    const text = lines;
    lines = '';
    await term.stdout.write(text);
  };
  try {
    for await (const value of values) {
      lines += `${toJson(value)}\n`;
      count += 1;
      if (lines.length > writtenAtOnce) await write();
    }
    await write();
    return { count };
  } catch (error) {
    await write();
    return { count, error };
  }
}
