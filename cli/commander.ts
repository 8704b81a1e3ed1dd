import type * as Typed from '@commander-js/extra-typings';
import * as commander from 'commander';

/*
 * Commander, with types that infer the options and arguments of each command. The types are a
 * development dependency; commander itself runs.
 */
export const { Argument, Command, InvalidArgumentError, Option } =
  commander as unknown as typeof Typed;

export { CommanderError } from 'commander';

/** Options that every command takes, before or after its name. */
export type GlobalOptions = {
  json?: true;
  baseUrl?: string;
  apiKey?: string;
  project?: string;
  color: boolean;
};

/** The root, or a group such as `ingest`, to which commands are added. */
export type Parent = Typed.Command<[], Record<never, never>, GlobalOptions>;

export type AnyCommand = Typed.CommandUnknownOpts;

export type AnyOption = Typed.Option<string, undefined, false, undefined, boolean, unknown>;
