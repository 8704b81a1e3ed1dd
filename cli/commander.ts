import type * as Typed from '@commander-js/extra-typings';
import * as commander from 'commander';

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

export type AnyOption = Typed.Option<string, undefined, false, undefined, boolean, unknown>;
