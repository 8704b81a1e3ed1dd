import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { addExamples } from '../examples.ts';
import type { Io } from '../io.ts';
import { errorsOutOption, idempotencyKeysOption, refuseToOverwrite } from '../options.ts';

export function addImport(program: Parent, io: Io): void {
  const command = program
    .command('import')
    .argument('<file>', 'JSON lines; - for stdin')
    .description('Take in what export printed: memories as JSON, one on each line.')
    .addOption(errorsOutOption)
    .addOption(idempotencyKeysOption)
    .addHelpText('after', help);
  command.action(async (file) => {
    const options = command.optsWithGlobals();
    refuseToOverwrite(file, options.errorsOut);
    const { openInput } = await import('../batch/open.ts');
    const { runImport } = await import('../batch/import.ts');
    const client = await connect(io, options);
    await runImport(io, client, await openInput(io, file, 'memories'), options);
  });
  addExamples(command, ['memory import memories.jsonl', 'cat memories.jsonl | memory import -']);
}

const help = `
Ids, times, types and status are kept; an id that is there already is skipped,
so that the same command can be run again. Bad lines are reported and do not
stop the rest.`;
