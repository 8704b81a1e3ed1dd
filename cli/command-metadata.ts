import type { AnyCommand } from './commander.ts';
import { usageError } from './errors.ts';

/*
 * The options, arguments and examples of a command, for completion and for the help as JSON.
 */

export type Option = AnyCommand['options'][number];
export type Argument = AnyCommand['registeredArguments'][number];

/** The options of a command alone, without hidden ones. */
export function ownOptions(command: AnyCommand): Option[] {
  return [...command.createHelp().visibleOptions(command)];
}

/** With those that it takes from the commands above it. */
export function allOptions(command: AnyCommand): Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

export function commandsBelow(command: AnyCommand): AnyCommand[] {
  return [...command.createHelp().visibleCommands(command)];
}

/** The commands that do something, each with the words one types. */
export function leavesOf(command: AnyCommand): AnyCommand[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** `ingest chat` */
export function pathBelowRoot(command: AnyCommand): string {
  const { parent } = command;
  if (parent === null) return '';
  return `${pathBelowRoot(parent)} ${command.name()}`.trim();
}

export function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** What is in the brackets: `file` of --errors-out <file>. */
export function valueName({ flags }: Option): string | undefined {
  return /[<[](.+?)[\]>]/.exec(flags)?.[1];
}

/** One that is read together with what was given before: nothing else asks for that. */
export function isRepeatable({ parseArg, variadic, argChoices }: Option): boolean {
  return variadic || (argChoices === undefined && (parseArg?.length ?? 0) > 1);
}

export function isFile(name: string | undefined): boolean {
  return name !== undefined && /\b(?:file|path)\b/.test(name);
}

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

/** The command that these words name. */
export function commandAt(program: AnyCommand, words: string[]): AnyCommand {
  return words.reduce(below, program);
}

function below(command: AnyCommand, word: string): AnyCommand {
  const found = command.commands.find((one) => one.name() === word);
  if (found !== undefined) return found;
  const names = command.commands.map((one) => one.name()).join(', ');
  const hint = names === '' ? undefined : `There are: ${names}`;
  throw usageError(`There is no command ${word}.`, hint);
}
