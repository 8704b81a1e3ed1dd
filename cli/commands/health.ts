import type { Parent } from '../commander.ts';
import { connectWithoutKey } from '../connect.ts';
import { addExamples } from '../examples.ts';
import { ExitWith, exitCodes } from '../failure.ts';
import type { Io } from '../io.ts';
import { printFields, printJson } from '../output.ts';

export function addHealth(program: Parent, io: Io): void {
  const command = program
    .command('health')
    .description('Ask the service how it is. Needs no key; exits with 1 when it is failing.');
  command.action(async () => {
    const options = command.optsWithGlobals();
    const client = await connectWithoutKey(io, options);
    const health = await client.health({ signal: io.interrupted });
    await (options.json ? printJson(io, health) : printFields(io, health));
    if (health.status !== 'ok') throw new ExitWith(exitCodes.failed);
  });
  addExamples(command, ['memory health']);
}
