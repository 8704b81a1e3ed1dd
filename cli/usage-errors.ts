import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Argument, allOptions, examplesBelow, pathBelowRoot } from './command-metadata.ts';
import type { AnyCommand, CommanderError } from './commander.ts';
import { exitCodes, type Failure } from './errors.ts';
import type { Terminal } from './terminal/terminal.ts';
import { capitalized, quoted } from './terminal/text.ts';

/** Names of commands in other tools: of the program itself, and of its groups. */
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
  'ingest ticket': 'support',
  'ingest conversation': 'chat',
  'ingest event': 'record',
  'ingest file': 'document',
  'ingest folder': 'document',
  'ingest jsonl': 'batch',
  'keys add': 'create',
  'keys new': 'create',
  'keys delete': 'revoke',
  'keys remove': 'revoke',
  'profile add': 'set',
  'profile delete': 'remove',
};

/** Names of options in other tools; suggested where the command has the option that is meant. */
const optionsElsewhere: Record<string, string> = {
  '--page': '--cursor',
  '--offset': '--cursor',
  '--db': '--database',
  '--database-url': '--database',
  '--force': '--yes',
  '--tag': '--metadata',
  '--format': '--json',
  '--output': '--json',
};

/** An error of commander in the words of the command line. */
export function usageFailure(term: Terminal, error: CommanderError, called: AnyCommand): Failure {
  const message = withMeant(error.message.replace(/^error: /, ''), called);
  return {
    code: 'usage',
    message: capitalized(message),
    hint: fileHint(term, error, called) ?? usageHint(error, called),
    requestId: null,
    exitCode: exitCodes.usage,
  };
}

/** A known name of another tool is a better suggestion than a similar spelling. */
function withMeant(message: string, called: AnyCommand): string {
  const [, problem, kind, word = ''] = /^(unknown (command|option) '([^']*)')/.exec(message) ?? [];
  const meant = kind === 'command' ? meantCommand(word, called) : meantOption(word, called);
  return meant === undefined ? message : `${problem}\n(Did you mean ${meant}?)`;
}

function meantCommand(word: string, called: AnyCommand): string | undefined {
  const path = `${pathBelowRoot(called)} ${word}`.trim();
  // A file or a folder stands where its kind was to be named.
  if (/^ingest .*[./]/.test(path)) return word.endsWith('.jsonl') ? 'batch' : 'document';
  return Object.hasOwn(elsewhere, path) ? elsewhere[path] : undefined;
}

function meantOption(word: string, called: AnyCommand): string | undefined {
  const [name = ''] = word.split('=');
  const meant = Object.hasOwn(optionsElsewhere, name) ? optionsElsewhere[name] : undefined;
  return allOptions(called).find(({ long }) => long !== undefined && long === meant)?.long;
}

export function exampleHint(called: AnyCommand): string {
  const [example] = examplesBelow(called);
  const help = `See: ${pathOf(called)} --help`;
  return example === undefined ? help : `Such as: ${example}\n${help}`;
}

/** A file whose name begins with a dash. */
function fileHint({ cwd }: Terminal, { message }: CommanderError, called: AnyCommand) {
  const [, word] = /^error: unknown option '(.*?)'/.exec(message) ?? [];
  const takesFiles = called.registeredArguments.some((argument) => argument.name() === 'file');
  if (word === undefined || !takesFiles || !existsSync(resolve(cwd, word))) return null;
  return `If the file is meant: ${quoted(`./${word}`)}`;
}

function usageHint(error: CommanderError, called: AnyCommand): string {
  const help = `See: ${pathOf(called)} --help`;
  if (error.code === 'commander.excessArguments') return excessHint(called, help);
  if (error.code === 'commander.unknownOption' && /'-[^']* /.test(error.message)) {
    return `Put -- before a text that begins with a dash. ${help}`;
  }
  if (/^error: option '-n, --limit /.test(error.message) && hasOption(called, '--all')) {
    return `For more than a page: --all. ${help}`;
  }
  return error.code === 'commander.missingArgument' ? exampleHint(called) : help;
}

function hasOption(called: AnyCommand, name: string): boolean {
  return called.options.some(({ long }) => long === name);
}

/** `memory list ada` means that user. */
function excessHint(called: AnyCommand, help: string): string {
  const { registeredArguments, args, commands } = called;
  const [user] = args;
  const isUser =
    registeredArguments.length + commands.length === 0 && called.opts().user === undefined;
  if (isUser && user !== undefined && hasOption(called, '--user')) {
    return `Did you mean: ${pathOf(called)} --user ${quoted(user)}\n${help}`;
  }
  const [last] = registeredArguments.slice(-1);
  if (last !== undefined && ['text', 'query'].includes(last.name())) {
    return `Put a text of several words in quotes. ${help}`;
  }
  if (last?.name() !== 'file') return help;
  const fromStdin = `Several of JSON lines: cat a.jsonl b.jsonl | ${pathOf(called)} -\n`;
  return `Give one file at a time. ${takesStdin(last) ? fromStdin : ''}${help}`;
}

/** A backup, say, is no text that could be put behind another. */
function takesStdin({ description }: Argument): boolean {
  return description.includes('- for stdin');
}

/** `memory ingest chat` */
function pathOf(command: AnyCommand): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
