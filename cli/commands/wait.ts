import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { addExamples } from '../examples.ts';
import { exitCodes } from '../failure.ts';
import { hint, type Io } from '../io.ts';
import { parseIds, timeoutOption } from '../options.ts';
import { lastingOutput, printJsonLine, printLine } from '../output.ts';
import { escaped, visible } from '../text.ts';
import { waitForAll } from '../wait-for-all.ts';
import type { Outcome } from '../waiting.ts';

export function addWait(program: Parent, io: Io): void {
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
    const client = await connect(io, options);
    const out = lastingOutput(io);
    const pending: string[] = [];
    const awaited = ids.map((memoryId) => ({ memoryId }));
    const exitCode = await waitForAll(io, client, awaited, options.timeout, async (outcome) => {
      const { exitCode: code, memoryId } = outcome;
      if (code === exitCodes.processing || code === exitCodes.notAsked) pending.push(memoryId);
      await printOutcome(out.io, options.json, outcome);
    });
    if (pending.length > 0) {
      await hint(io, `Nothing is lost. Wait on: memory wait ${pending.join(' ')}`);
    }
    out.end(exitCode);
  });
  addExamples(command, ['memory wait mem_0199c2a4f1e87c3d9b5e6a7f80912b3c --timeout 5m']);
}

const notAskedError = {
  code: 'wait_timeout',
  message: 'it is processed; how that ended was not asked in time',
};

export async function printOutcome(io: Io, json: true | undefined, outcome: Outcome) {
  const { memoryId, exitCode, status, error } = outcome;
  const notAsked = exitCode === exitCodes.notAsked;
  if (json) {
    const { code, message } = error ?? notAskedError;
    const known = status ?? { memoryId, status: 'processing' };
    return printJsonLine(
      io,
      exitCode === exitCodes.notFound || notAsked ? { memoryId, error: { code, message } } : known,
    );
  }
  const unknown = notAsked ? 'not asked' : 'processing';
  const word = exitCode === exitCodes.notFound ? 'not found' : (status?.status ?? unknown);
  const cells = [memoryId, word, ...(status?.errorMessage ? [status.errorMessage] : [])];
  const { isTerminal } = io.stdout;
  return printLine(io, cells.map(isTerminal ? visible : escaped).join(isTerminal ? '  ' : '\t'));
}
