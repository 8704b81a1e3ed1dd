import { connect } from '../client/connect.ts';
import { addExamples, addNotes } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { definedOnly, needUser, userOptionFor } from '../options.ts';
import { OutputClosed } from '../terminal/process-output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { memoriesOf, toJson } from '../terminal/text.ts';

/** Lines are written in batches, because a system call per line would dominate the run time. */
const writtenAtOnce = 64 * 1024;

export function addExport(program: Parent, term: Terminal): void {
  const command = program
    .command('export')
    .description('Print every memory of the project as JSON lines.')
    .addOption(userOptionFor('only memories of this user'));
  command.action(async () => {
    const options = command.optsWithGlobals();
    const userId = options.user === undefined ? undefined : needUser(options.user);
    const client = await connect(term, options);
    let [count, lines] = [0, ''];
    const flush = async () => {
      const text = lines;
      lines = '';
      await term.stdout.write(text);
    };
    try {
      const call = { signal: term.interrupted };
      for await (const memory of client.export(definedOnly({ userId }), call)) {
        lines += `${toJson(memory)}\n`;
        count += 1;
        if (lines.length > writtenAtOnce) await flush();
      }
      await flush();
    } catch (error) {
      if (error instanceof OutputClosed) throw error;
      await flush();
      await note(term, `Stopped after ${memoriesOf(count)}: the export is incomplete.`);
      throw error;
    }
    if (!options.json) await note(term, `Exported ${memoriesOf(count)}.`);
  });
  addNotes(command, '\nmemory import reads these lines, on the same or on another service.');
  addExamples(command, [
    'memory export > memories.jsonl',
    'memory export --user u-1 | gzip > u-1.jsonl.gz',
  ]);
}
