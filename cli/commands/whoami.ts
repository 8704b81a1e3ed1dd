import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { printFields, printJson } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addWhoami(program: Parent, term: Terminal): void {
  const command = program
    .command('whoami')
    .description('Show the project, user and permissions of the API key.');
  command.action(async () => {
    const options = command.optsWithGlobals();
    const client = await connect(term, options);
    const key = await client.key({ signal: term.interrupted });
    if (options.json) return printJson(term, key);
    await printFields(term, { ...key, readOnly: String(key.readOnly) });
  });
  addExamples(command, ['memory whoami']);
}
