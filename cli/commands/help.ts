import { type AnyCommand, Argument, type Parent } from '../commander.ts';
import { addExamples } from '../examples.ts';
import { usageError } from '../failure.ts';
import type { Io } from '../io.ts';
import { printJson } from '../output.ts';

export function addHelp(program: Parent, io: Io): void {
  const command = program
    .command('help')
    .addArgument(new Argument('[command...]', 'the command, all of them without one'))
    .description('Show the help of a command; with --json all of it, for a program to read.');
  command.action(async (words) => {
    if (command.optsWithGlobals().json) await printReference(io, words);
    else (await commandAt(io, words)).outputHelp();
  });
  addExamples(command, ['memory help ingest batch', 'memory help --json']);
}

export async function printReference(io: Io, words: string[]): Promise<void> {
  const { referenceOf } = await import('../reference.ts');
  await printJson(io, referenceOf(io, await commandAt(io, words)));
}

async function commandAt(io: Io, words: string[]): Promise<AnyCommand> {
  const { createProgram } = await import('../program.ts');
  const program: AnyCommand = await createProgram(io);
  return words.reduce(below, program);
}

function below(command: AnyCommand, word: string): AnyCommand {
  const found = command.commands.find((one) => one.name() === word);
  if (found !== undefined) return found;
  const names = command.commands.map((one) => one.name()).join(', ');
  throw usageError(
    `There is no command ${word}.`,
    names === '' ? undefined : `There are: ${names}`,
  );
}
