import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { errorsOutOption, idempotencyKeysOption, refuseToOverwrite } from '../options.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addImport(program: Parent, term: Terminal): void {
  const command = program
    .command('import')
    .argument('<file>', 'JSON lines; - for stdin')
    .description('Import what export printed: memories as JSON, one on each line.')
    .addOption(errorsOutOption)
    .addOption(idempotencyKeysOption)
    .addHelpText('after', help);
  command.action(async (file) => {
    const options = command.optsWithGlobals();
    refuseToOverwrite(file, options.errorsOut);
    const { openInput } = await import('../bulk/input.ts');
    const { runImport } = await import('../bulk/batch.ts');
    const client = await connect(term, options);
    await runImport(term, client, await openInput(term, file, 'memories'), options);
  });
  addExamples(command, ['memory import memories.jsonl', 'cat memories.jsonl | memory import -']);
}

const help = `
Ids, times, types and status are kept; an id that is there already is skipped,
so that the same command can be run again. Bad lines are reported and do not
stop the rest.`;
