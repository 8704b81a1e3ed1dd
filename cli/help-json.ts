import { EventEmitter } from 'node:events';
import {
  type Argument,
  allOptions,
  commandAt,
  examplesOf,
  isRepeatable,
  leavesOf,
  type Option,
  ownOptions,
  pathBelowRoot,
  takesValue,
  valueName,
} from './command-metadata.ts';
import type { AnyCommand } from './commander.ts';
import { exitCodes } from './errors.ts';
import { serverSettings } from './server-settings.ts';
import { printJson } from './terminal/output.ts';
import { asCalled, type Terminal } from './terminal/terminal.ts';

/** The help of what these words name, all of it without any, for a program to read. */
export async function printHelpAsJson(term: Terminal, program: AnyCommand, words: string[]) {
  await printJson(term, helpAsJson(term, commandAt(program, words)));
}

/** Everything below a command, as commander knows it. */
function helpAsJson(term: Terminal, command: AnyCommand) {
  const root = rootOf(command);
  return {
    name: root.name(),
    version: root.version() ?? '',
    description: root.description(),
    options: ownOptions(root).map((option) => optionOf(option)),
    commands: leavesOf(command).map((leaf) => commandOf(term, leaf)),
    exitCodes: Object.entries(exitCodeMeanings).map(([name, meaning]) => ({
      code: name === 'interrupted' ? 130 : exitCodes[name as keyof typeof exitCodes],
      meaning,
    })),
    environment: environmentOf(root),
  };
}

const exitCodeMeanings: Record<keyof typeof exitCodes | 'interrupted', string> = {
  done: 'done',
  failed: 'failed, or some of several failed',
  usage: 'the command line is wrong',
  notFound: 'not found',
  refused: 'the API key is missing or was refused',
  unreachable: 'the service cannot be reached',
  processing: 'still processing when the time was over; nothing is lost',
  interrupted: 'interrupted',
};

function rootOf(command: AnyCommand): AnyCommand {
  return command.parent === null ? command : rootOf(command.parent);
}

function commandOf(term: Terminal, command: AnyCommand) {
  return {
    path: pathBelowRoot(command),
    description: command.description(),
    usage: `${rootOf(command).name()} ${pathBelowRoot(command)} ${command.usage()}`,
    arguments: command.registeredArguments.map(argumentOf),
    options: ownOptions(command).map((option) => optionOf(option, command)),
    notes: notesOf(term, command),
    examples: examplesOf(command).map((example) => asCalled(term, example)),
  };
}

function argumentOf(argument: Argument) {
  const { required, variadic, description, argChoices } = argument;
  const choices = argChoices ?? null;
  return { name: argument.name(), description, required, variadic, choices };
}

/** What a description says of environment and default stands in fields of their own. */
const inBrackets = / \((?:better by )?(?:env: (\w+))?(?:, )?(?:default: (.+))?\)$/;

function optionOf(option: Option, command?: AnyCommand) {
  const { long = '', short = null, argChoices, defaultValue, defaultValueDescription } = option;
  const [brackets = '', env, byDescription] = inBrackets.exec(option.description) ?? [];
  const preset = defaultValueDescription ?? (option.negate ? undefined : defaultValue);
  return {
    name: long,
    short,
    description: option.description.slice(0, option.description.length - brackets.length),
    takesValue: takesValue(option),
    value: valueName(option) ?? null,
    choices: argChoices ?? null,
    default: byDescription ?? preset ?? null,
    env: env ?? null,
    required: command !== undefined && isRequired(option, command),
    repeatable: isRepeatable(option),
  };
}

/** In every way to call it, and not in brackets: `--user <id> [options] <text>`. */
function isRequired({ long = '' }: Option, command: AnyCommand): boolean {
  const ways = command.usage().split(' | ');
  return ways.every((way) =>
    way
      .replace(/\[.*?\]/g, '')
      .split(' ')
      .includes(long),
  );
}

/** What the help says after the options, without the examples. */
function notesOf(term: Terminal, command: AnyCommand): string {
  const said: string[] = [];
  const write = (text: string) => said.push(text);
  const events: unknown = command;
  if (events instanceof EventEmitter) events.emit('afterHelp', { error: false, command, write });
  const notes = said.filter((text) => !/^\nExamples?:/.test(text));
  return asCalled(term, notes.join('')).trim();
}

function environmentOf(root: AnyCommand) {
  const named = leavesOf(root)
    .flatMap(allOptions)
    .map((option) => optionOf(option))
    .flatMap(({ env, name, description, default: preset }) =>
      env === null ? [] : [{ name: env, description: `${name}: ${description}`, default: preset }],
    );
  const all = [
    ...named,
    ...serverSettings.map((one) => ({ ...one, default: one.default ?? null })),
  ];
  return [...new Map(all.map((one) => [one.name, one])).values()];
}
