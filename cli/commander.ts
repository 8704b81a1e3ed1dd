import type * as Typed from '@commander-js/extra-typings';
import * as commander from 'commander';
import { usageError } from './errors.ts';

/*
 * Commander, with types that infer the options and arguments of each command. The typed package is
 * only a development dependency, so the values come from commander itself.
 */
export const { Argument, Command, InvalidArgumentError, Option } =
  commander as unknown as typeof Typed;

export { CommanderError } from 'commander';

/** The options that every command accepts, before or after its name. */
export type GlobalOptions = {
  json?: true;
  baseUrl?: string;
  apiKey?: string;
  project?: string;
  color: boolean;
};

/** A command with subcommands: the root, or a group such as `ingest`. */
export type Parent = Typed.Command<[], Record<never, never>, GlobalOptions>;

export type AnyCommand = Typed.CommandUnknownOpts;

/* The options, arguments and examples of a command, for completion and for the help as JSON. */

export type CommandOption = AnyCommand['options'][number];
export type CommandArgument = AnyCommand['registeredArguments'][number];

export function ownOptions(command: AnyCommand): CommandOption[] {
  return [...command.createHelp().visibleOptions(command)];
}

export function allOptions(command: AnyCommand): CommandOption[] {
  return [...ownOptions(command), ...command.createHelp().visibleGlobalOptions(command)];
}

/** Returns the command and those below it, without groups, which only show help. */
export function runnableCommands(command: AnyCommand): AnyCommand[] {
  const below = command.commands.flatMap(runnableCommands);
  // `mcp` has a subcommand, but it also runs by itself and therefore has options.
  const isGroup = below.length > 0 && (command.parent === null || command.options.length === 0);
  return isGroup ? below : [command, ...below];
}

/** Returns the path of a command, for example `ingest chat`. */
export function pathBelowRoot(command: AnyCommand): string {
  const { parent } = command;
  return parent === null ? '' : `${pathBelowRoot(parent)} ${command.name()}`.trim();
}

export function takesValue({ required, optional }: CommandOption): boolean {
  return required || optional;
}

/** Returns the name in brackets, for example `file` for --errors-out <file>. */
export function valueName({ flags }: CommandOption): string | undefined {
  return /[<[](.+?)[\]>]/.exec(flags)?.[1];
}

/** Only the parsers of repeatable options have a parameter for the previous value. */
export function isRepeatable({ parseArg, variadic, argChoices }: CommandOption): boolean {
  return variadic || (argChoices === undefined && (parseArg?.length ?? 0) > 1);
}

/** The texts below the options in a command's help. Commander prints but does not return them. */
const helpTexts = new WeakMap<AnyCommand, { notes: string; examples: string[] }>();

export function helpTextsOf(command: AnyCommand): { notes: string; examples: string[] } {
  return helpTexts.get(command) ?? { notes: '', examples: [] };
}

export function addNotes(command: object & AnyCommand, notes: string): void {
  helpTexts.set(command, { ...helpTextsOf(command), notes });
  command.addHelpText('after', notes);
}

/** Adds examples to the end of a command's help. The tests run every example. */
export function addExamples(command: object & AnyCommand, examples: string[]): void {
  helpTexts.set(command, { ...helpTextsOf(command), examples });
  const title = examples.length === 1 ? 'Example:' : 'Examples:';
  command.addHelpText('after', ['', title, ...examples.map((one) => `  ${one}`)].join('\n'));
}

export function examplesBelow(command: AnyCommand): string[] {
  return [...helpTextsOf(command).examples, ...command.commands.flatMap(examplesBelow)];
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
