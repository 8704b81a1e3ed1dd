import {
  type AnyCommand,
  allOptions,
  type CommandArgument,
  type CommandOption,
  commandAt,
  helpTextsOf,
  isRepeatable,
  ownOptions,
  pathBelowRoot,
  runnableCommands,
  takesValue,
  valueName,
} from './commander.ts';
import { serverSettings } from './commands/serve.ts';
import { exitCodes } from './errors.ts';
import { printJson } from './terminal/output.ts';
import { asCalled, type Terminal } from './terminal/terminal.ts';

export async function printHelpAsJson(term: Terminal, root: AnyCommand, words: string[]) {
  await printJson(term, {
    name: root.name(),
    version: root.version() ?? '',
    description: root.description(),
    options: ownOptions(root).map((option) => optionOf(option)),
    commands: runnableCommands(commandAt(root, words)).map((one) => commandOf(term, root, one)),
    exitCodes: exitCodeMeanings,
    environment: environmentOf(root),
  });
}

const exitCodeMeanings = [
  { code: exitCodes.done, meaning: 'success' },
  { code: exitCodes.failed, meaning: 'failure, or partial failure' },
  { code: exitCodes.usage, meaning: 'invalid command line' },
  { code: exitCodes.notFound, meaning: 'not found' },
  { code: exitCodes.refused, meaning: 'the API key is missing or was rejected' },
  { code: exitCodes.unreachable, meaning: 'the service cannot be reached' },
  {
    code: exitCodes.processing,
    meaning: 'still processing when the timeout expired; nothing is lost',
  },
  { code: 130, meaning: 'interrupted' },
];

function commandOf(term: Terminal, root: AnyCommand, command: AnyCommand) {
  const { notes, examples } = helpTextsOf(command);
  return {
    path: pathBelowRoot(command),
    description: command.description(),
    usage: `${root.name()} ${pathBelowRoot(command)} ${command.usage()}`,
    arguments: command.registeredArguments.map(argumentOf),
    options: ownOptions(command).map((option) => optionOf(option, command)),
    notes: asCalled(term, notes).trim(),
    examples: examples.map((example) => asCalled(term, example)),
  };
}

function argumentOf(argument: CommandArgument) {
  const { required, variadic, description, argChoices: choices = null } = argument;
  return { name: argument.name(), description, required, variadic, choices };
}

/** Matches the environment variable and default in a description, which become separate fields. */
const inBrackets = / \((?:env: (\w+))?(?:, )?(?:default: (.+))?\)$/;

function optionOf(option: CommandOption, command?: AnyCommand) {
  const { long = '', short = null, argChoices, defaultValue, defaultValueDescription } = option;
  const [, env, byDescription] = inBrackets.exec(option.description) ?? [];
  const preset = defaultValueDescription ?? (option.negate ? undefined : defaultValue);
  return {
    name: long,
    short,
    description: option.description.replace(inBrackets, ''),
    takesValue: takesValue(option),
    value: valueName(option) ?? null,
    choices: argChoices ?? null,
    default: byDescription ?? preset ?? null,
    env: env ?? null,
    required: command !== undefined && isRequired(long, command),
    repeatable: isRepeatable(option),
  };
}

/** Whether every usage has the option outside brackets, as in `--user <id> [options]`. */
function isRequired(name: string, command: AnyCommand): boolean {
  const ways = command.usage().split(' | ');
  return ways.every((way) => ` ${way.replace(/\[.*?\]/g, '')} `.includes(` ${name} `));
}

function environmentOf(root: AnyCommand) {
  const found = new Map(serverSettings.map((one) => [one.name, one]));
  for (const option of runnableCommands(root).flatMap(allOptions)) {
    const { env, name, description, default: preset } = optionOf(option);
    if (env === null || found.has(env)) continue;
    const byDefault = typeof preset === 'string' ? preset : null;
    found.set(env, { name: env, description: `${name}: ${description}`, default: byDefault });
  }
  return [...found.values()];
}
