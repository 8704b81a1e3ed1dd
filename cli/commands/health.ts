import type { Parent } from '../commander.ts';
import { connectWithoutKey } from '../connect.ts';
import { addExamples } from '../examples.ts';
import { exitCodes } from '../failure.ts';
import type { Io } from '../io.ts';
import { lastingOutput, printFields, printJson } from '../output.ts';

export function addHealth(program: Parent, io: Io): void {
  const command = program
    .command('health')
    .description('Ask the service how it is. Needs no key; exits with 1 when it is failing.');
  command.action(async () => {
    const options = command.optsWithGlobals();
    const client = await connectWithoutKey(io, options);
    const health = await client.health({ signal: io.interrupted });
    const out = lastingOutput(io);
    await (options.json ? printJson(out.io, health) : printFields(out.io, health));
    out.end(health.status === 'ok' ? exitCodes.done : exitCodes.failed);
  });
  addExamples(command, ['memory health']);
}
