import { connect } from '../client/connect.ts';
import { addHelp, type Parent } from '../commander.ts';
import { exitCodes } from '../errors.ts';
import { printObject, resilientOutput } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addHealth(program: Parent, term: Terminal): void {
  const command = program
    .command('health')
    .description(
      "Show the service's health; needs no key. Exits with status 1 if the service is failing.",
    );
  command.action(async () => {
    const client = await connect(term, { needsKey: false });
    const health = await client.health({ signal: term.interrupted });
    const out = resilientOutput(term);
    await printObject(out.term, health);
    out.end(health.status === 'ok' ? exitCodes.done : exitCodes.failed);
  });
  addHelp(command, '', ['memory health']);
}

export function addWhoami(program: Parent, term: Terminal): void {
  const command = program
    .command('whoami')
    .description("Show the API key's project, user and permissions.");
  command.action(async () => {
    const client = await connect(term);
    await printObject(term, await client.key({ signal: term.interrupted }));
  });
  addHelp(command, '', ['memory whoami']);
}
