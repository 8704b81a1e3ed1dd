import type { AnyCommand, CommanderError } from './commander.ts';
import { examplesBelow } from './examples.ts';
import { exitCodes, type Failure } from './failure.ts';
import { quoted } from './text.ts';

/** What commands are called elsewhere. */
const elsewhere: Record<string, string> = {
  add: 'save',
  create: 'save',
  new: 'save',
  find: 'search',
  rm: 'delete',
  remove: 'delete',
  show: 'get',
  ls: 'list',
  edit: 'update',
};

/** An error of commander in the words of the command line. */
export function usageFailure(error: CommanderError, called: AnyCommand): Failure {
  const message = withMeant(error.message.replace(/^error: /, ''), called);
  return {
    code: 'usage',
    message: message.charAt(0).toUpperCase() + message.slice(1),
    hint: usageHint(error, called),
    requestId: null,
    exitCode: exitCodes.usage,
  };
}

/** A name from elsewhere tells more than one that is spelt alike. */
function withMeant(message: string, called: AnyCommand): string {
  const [, told = '', word = ''] = /^(unknown command '([^']*)')/.exec(message) ?? [];
  if (called.parent !== null || !Object.hasOwn(elsewhere, word)) return message;
  return `${told}\n(Did you mean ${elsewhere[word]}?)`;
}

export function exampleHint(called: AnyCommand): string {
  const [example] = examplesBelow(called);
  const help = `See: ${pathOf(called)} --help`;
  return example === undefined ? help : `Such as: ${example}\n${help}`;
}

function usageHint(error: CommanderError, called: AnyCommand): string {
  const help = `See: ${pathOf(called)} --help`;
  if (error.code === 'commander.excessArguments') return excessHint(called, help);
  if (error.code === 'commander.unknownOption' && /'-[^']* /.test(error.message)) {
    return `Put -- before a text that begins with a dash. ${help}`;
  }
  return error.code === 'commander.missingArgument' ? exampleHint(called) : help;
}

/** `memory list ada` means that user. */
function excessHint(called: AnyCommand, help: string): string {
  const { options, registeredArguments, args } = called;
  const [user] = args;
  const isUser = registeredArguments.length === 0 && called.opts().user === undefined;
  if (isUser && user !== undefined && options.some(({ long }) => long === '--user')) {
    return `Did you mean: ${pathOf(called)} --user ${quoted(user)}\n${help}`;
  }
  return `Put a text of several words in quotes. ${help}`;
}

/** `memory ingest chat` */
function pathOf(command: AnyCommand): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
