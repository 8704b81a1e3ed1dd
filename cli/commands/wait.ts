import { waitForAll } from '../bulk/wait.ts';
import type { Outcome } from '../bulk/waiting.ts';
import { connect } from '../client/connect.ts';
import { exitCodes } from '../client/errors.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { parseIds, timeoutOption } from '../options.ts';
import { printJsonLine, printLine, resilientOutput } from '../terminal/output.ts';
import { hint, type Terminal } from '../terminal/terminal.ts';
import { escapeControls, escapeField } from '../terminal/text.ts';

export function addWait(program: Parent, term: Terminal): void {
  const command = program
    .command('wait')
    .argument('<id...>', 'of the memories', parseIds)
    .description('Wait until memories are processed; one line for each as it ends.')
    .addOption(timeoutOption)
    .addHelpText(
      'after',
      '\nExits with 0 when all are complete, 1 if one failed, 8 if time ran out, and 9 if' +
        '\nall are processed, but time ran out before each was asked how that ended.',
    );
  command.action(async (ids) => {
    const options = command.optsWithGlobals();
    const client = await connect(term, options);
    const out = resilientOutput(term);
    const pending: string[] = [];
    const awaited = ids.map((memoryId) => ({ memoryId }));
    const exitCode = await waitForAll(term, client, awaited, options.timeout, async (outcome) => {
      const { exitCode: code, memoryId } = outcome;
      if (code === exitCodes.processing || code === exitCodes.notAsked) pending.push(memoryId);
      await printOutcome(out.term, options.json, outcome);
    });
    if (pending.length > 0) {
      await hint(term, `Nothing is lost. Wait on: memory wait ${pending.join(' ')}`);
    }
    out.end(exitCode);
  });
  addExamples(command, ['memory wait mem_0199c2a4f1e87c3d9b5e6a7f80912b3c --timeout 5m']);
}

const notAskedError = {
  code: 'wait_timeout',
  message: 'it is processed; how that ended was not asked in time',
};

export async function printOutcome(term: Terminal, json: true | undefined, outcome: Outcome) {
  const { memoryId, exitCode, status, error } = outcome;
  const notAsked = exitCode === exitCodes.notAsked;
  if (json) {
    const { code, message } = error ?? notAskedError;
    const known = status ?? { memoryId, status: 'processing' };
    return printJsonLine(
      term,
      exitCode === exitCodes.notFound || notAsked ? { memoryId, error: { code, message } } : known,
    );
  }
  const unknown = notAsked ? 'not asked' : 'processing';
  const word = exitCode === exitCodes.notFound ? 'not found' : (status?.status ?? unknown);
  const cells = [memoryId, word, ...(status?.errorMessage ? [status.errorMessage] : [])];
  const { isTerminal } = term.stdout;
  return printLine(
    term,
    cells.map(isTerminal ? escapeControls : escapeField).join(isTerminal ? '  ' : '\t'),
  );
}
