import type { AnyCommand } from './commander.ts';
import { usageError } from './errors.ts';

/* The options, arguments and examples of a command, for completion and for the help as JSON. */

export type Option = AnyCommand['options'][number];
export type Argument = AnyCommand['registeredArguments'][number];

export function ownOptions(command: AnyCommand): Option[] {
  return [...command.createHelp().visibleOptions(command)];
}

export function allOptions(command: AnyCommand): Option[] {
  return [...ownOptions(command), ...command.createHelp().visibleGlobalOptions(command)];
}

export function leavesOf(command: AnyCommand): AnyCommand[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** For example `ingest chat`. */
export function pathBelowRoot(command: AnyCommand): string {
  const { parent } = command;
  return parent === null ? '' : `${pathBelowRoot(parent)} ${command.name()}`.trim();
}

export function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** Returns the name in brackets, for example `file` for --errors-out <file>. */
export function valueName({ flags }: Option): string | undefined {
  return /[<[](.+?)[\]>]/.exec(flags)?.[1];
}

/** Only the parsers of repeatable options have a parameter for the previous value. */
export function isRepeatable({ parseArg, variadic, argChoices }: Option): boolean {
  return variadic || (argChoices === undefined && (parseArg?.length ?? 0) > 1);
}

const notesByCommand = new WeakMap<AnyCommand, string>();
const examplesByCommand = new WeakMap<AnyCommand, string[]>();

export function addNotes(command: object & AnyCommand, notes: string): void {
  notesByCommand.set(command, notes);
  command.addHelpText('after', notes);
}

/** Adds examples to the end of a command's help. The tests run every one of them. */
export function addExamples(command: object & AnyCommand, examples: string[]): void {
  examplesByCommand.set(command, examples);
  const title = examples.length === 1 ? 'Example:' : 'Examples:';
  command.addHelpText('after', ['', title, ...examples.map((one) => `  ${one}`)].join('\n'));
}

export function notesOf(command: AnyCommand): string {
  return notesByCommand.get(command) ?? '';
}

export function examplesOf(command: AnyCommand): string[] {
  return examplesByCommand.get(command) ?? [];
}

export function examplesBelow(command: AnyCommand): string[] {
  return [...examplesOf(command), ...command.commands.flatMap(examplesBelow)];
}

export function commandAt(program: AnyCommand, words: string[]): AnyCommand {
  return words.reduce((command, word) => {
    const below = command.commands.find((one) => one.name() === word);
    if (below !== undefined) return below;
    const names = command.commands.map((one) => one.name()).join(', ');
    throw usageError(
      `Unknown command: ${word}.`,
      names === '' ? undefined : `Available commands: ${names}`,
    );
  }, program);
}
