import type * as Typed from '@commander-js/extra-typings';
import * as commander from 'commander';
import type { GlobalOptions } from './terminal/terminal.ts';

/*
 * Commander, with types that infer the options and arguments of each command. The typed package is
 * only a development dependency, so the values come from commander itself.
 */
export const { Argument, Command, InvalidArgumentError, Option } =
  commander as unknown as typeof Typed;

export { CommanderError } from 'commander';

/** A command with subcommands: the root, or a group such as `ingest`. */
export type Parent = Typed.Command<[], Record<never, never>, GlobalOptions>;

export type AnyCommand = Typed.CommandUnknownOpts;
export type CommandOption = AnyCommand['options'][number];

export function allOptions(command: AnyCommand): CommandOption[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

/** Returns the path of a command, for example `ingest chat`. */
export function pathBelowRoot(command: AnyCommand): string {
  const { parent } = command;
  return parent === null ? '' : `${pathBelowRoot(parent)} ${command.name()}`.trim();
}

export function helpFor(command: AnyCommand): string {
  return `See: ${`memory ${pathBelowRoot(command)}`.trim()} --help`;
}

/** The examples in the help of commands. Commander prints but does not return them. */
const examplesOf = new WeakMap<AnyCommand, string[]>();

/** Adds a text and examples to the end of a command's help. The tests run every example. */
export function addHelp(command: object & AnyCommand, text: string, examples: string[]): void {
  examplesOf.set(command, examples);
  const title = examples.length === 1 ? 'Example:' : 'Examples:';
  const shown = ['', title, ...examples.map((one) => `  ${one}`)].join('\n');
  command.addHelpText('after', text === '' ? shown : `${text}\n${shown}`);
}

export function examplesBelow(command: AnyCommand): string[] {
  return [...(examplesOf.get(command) ?? []), ...command.commands.flatMap(examplesBelow)];
}
