import type { AnyCommand } from './commander.ts';

const examplesOf = new WeakMap<AnyCommand, string[]>();

/** Ends the help of a command with examples. The tests run every one of them. */
export function addExamples(command: object & AnyCommand, examples: string[]): void {
  examplesOf.set(command, examples);
  command.addHelpText('after', () => {
    const title = examples.length === 1 ? 'Example:' : 'Examples:';
    return `\n${title}\n${examples.map((example) => `  ${example}`).join('\n')}`;
  });
}

/** Every example in the help of a command and those below it. */
export function examplesBelow(command: AnyCommand): string[] {
  return [...(examplesOf.get(command) ?? []), ...command.commands.flatMap(examplesBelow)];
}
