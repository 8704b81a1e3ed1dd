import type { AnyCommand } from './commander.ts';

const examplesByCommand = new WeakMap<AnyCommand, string[]>();

/** Ends the help of a command with examples. The tests run every one of them. */
export function addExamples(command: object & AnyCommand, examples: string[]): void {
  examplesByCommand.set(command, examples);
  command.addHelpText('after', () => {
    const title = examples.length === 1 ? 'Example:' : 'Examples:';
    return `\n${title}\n${examples.map((example) => `  ${example}`).join('\n')}`;
  });
}

export function examplesOf(command: AnyCommand): string[] {
  return examplesByCommand.get(command) ?? [];
}

/** Every example in the help of a command and those below it. */
export function examplesBelow(command: AnyCommand): string[] {
  return [...examplesOf(command), ...command.commands.flatMap(examplesBelow)];
}
