import type { Health } from '../../sdk/index.ts';
import { connect, connectWithoutKey } from '../client/connect.ts';
import { addExamples, type Parent } from '../commander.ts';
import { exitCodes, exitWith } from '../errors.ts';
import { printFields, printJson } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addHealth(program: Parent, term: Terminal): void {
  const command = program
    .command('health')
    .description(
      "Show the service's health; needs no key. Exits with status 1 if the service is failing.",
    );
  command.action(async () => {
    const options = command.optsWithGlobals();
    const client = await connectWithoutKey(term, options);
    const health = await client.health({ signal: term.interrupted });
    await (options.json ? printJson(term, health) : printFields(term, fieldsOf(health)));
    exitWith(health.status === 'ok' ? exitCodes.done : exitCodes.failed);
  });
  addExamples(command, ['memory health']);
}

/** Names the fields of an object in the health as `object.field`. */
function fieldsOf(health: Health): Record<string, string | number | null> {
  const fields = Object.entries(health).flatMap(([name, value]) => {
    if (typeof value !== 'object' || value === null) return [[name, value]];
    return Object.entries(value).map(([inner, field]) => [`${name}.${inner}`, field]);
  });
  return Object.fromEntries(fields);
}

export function addWhoami(program: Parent, term: Terminal): void {
  const command = program
    .command('whoami')
    .description("Show the API key's project, user and permissions.");
  command.action(async () => {
    const options = command.optsWithGlobals();
    const client = await connect(term, options);
    const key = await client.key({ signal: term.interrupted });
    if (options.json) return printJson(term, key);
    await printFields(term, { ...key, readOnly: String(key.readOnly) });
  });
  addExamples(command, ['memory whoami']);
}
