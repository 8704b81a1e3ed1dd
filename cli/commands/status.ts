import { type Outcome, printOutcome, waitForAll } from '../bulk/wait.ts';
import { connect } from '../client/connect.ts';
import { addHelp, type Parent } from '../commander.ts';
import { memoryId, parseId, timeoutOption } from '../options.ts';
import { printObject, resilientOutput } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addStatus(program: Parent, term: Terminal): void {
  const command = program
    .command('status')
    .addArgument(memoryId)
    .description('Show the processing status of a memory.');
  command.action(async (id) => {
    const client = await connect(term);
    await printObject(term, await client.status(id, { signal: term.interrupted }));
  });
  addHelp(command, '', ['memory status mem_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}

export function addWait(program: Parent, term: Terminal): void {
  const command = program
    .command('wait')
    .argument('<id...>', 'the ids of the memories', (id, previous: string[] = []) => [
      ...previous,
      parseId(id),
    ])
    .description('Wait until memories are processed, printing a line as each one finishes.')
    .addOption(timeoutOption);
  command.action(async (ids, options) => {
    const client = await connect(term);
    const out = resilientOutput(term);
    const print = (outcome: Outcome) => printOutcome(out.term, outcome);
    out.end(await waitForAll(term, client, ids, options.timeout, print));
  });
  const help =
    '\nExits with status 0 if all memories are complete, 1 if any failed,' +
    '\n3 if any was not found, and 8 on a timeout.';
  addHelp(command, help, ['memory wait mem_0199c2a4f1e87c3d9b5e6a7f80912b3c --timeout 5m']);
}
