import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { allOptions, examplesBelow, pathBelowRoot } from './command-metadata.ts';
import type { AnyCommand, CommanderError } from './commander.ts';
import { exitCodes, type Failure } from './errors.ts';
import type { Terminal } from './terminal/terminal.ts';
import { capitalized, quoted } from './terminal/text.ts';

/** Maps command names of other tools to ours, for the root and for the groups. */
const foreignCommands = new Map([
  ['add', 'save'],
  ['create', 'save'],
  ['new', 'save'],
  ['find', 'search'],
  ['rm', 'delete'],
  ['remove', 'delete'],
  ['show', 'get'],
  ['ls', 'list'],
  ['edit', 'update'],
  ['ingest ticket', 'support'],
  ['ingest conversation', 'chat'],
  ['ingest event', 'record'],
  ['ingest file', 'document'],
  ['ingest folder', 'document'],
  ['ingest jsonl', 'batch'],
  ['keys add', 'create'],
  ['keys new', 'create'],
  ['keys delete', 'revoke'],
  ['keys remove', 'revoke'],
  ['profile add', 'set'],
  ['profile delete', 'remove'],
]);

/** Names of options in other tools; suggested if the command has the equivalent. */
const foreignOptions = new Map([
  ['--page', '--cursor'],
  ['--offset', '--cursor'],
  ['--db', '--database'],
  ['--database-url', '--database'],
  ['--force', '--yes'],
  ['--tag', '--metadata'],
  ['--format', '--json'],
  ['--output', '--json'],
]);

/** Converts an error of commander into a message of the command line. */
export function usageFailure(term: Terminal, error: CommanderError, called: AnyCommand): Failure {
  const message = withSuggestion(error.message.replace(/^error: /, ''), called);
  const hint = hintFor(term, error, called);
  const { usage: exitCode } = exitCodes;
  return { code: 'usage', message: capitalized(message), hint, requestId: null, exitCode };
}

/** Prefers the equivalent of another tool's name to a name with a similar spelling. */
function withSuggestion(message: string, called: AnyCommand): string {
  const [, problem, kind, word = ''] = /^(unknown (command|option) '([^']*)')/.exec(message) ?? [];
  const meant = kind === 'command' ? meantCommand(word, called) : meantOption(word, called);
  return meant === undefined ? message : `${problem}\n(Did you mean ${meant}?)`;
}

function meantCommand(word: string, called: AnyCommand): string | undefined {
  const path = `${pathBelowRoot(called)} ${word}`.trim();
  // The word is a file or folder instead of a kind of record.
  if (/^ingest .*[./]/.test(path)) return word.endsWith('.jsonl') ? 'batch' : 'document';
  return foreignCommands.get(path);
}

function meantOption(word: string, called: AnyCommand): string | undefined {
  const meant = foreignOptions.get(word.replace(/=.*/s, ''));
  return meant !== undefined && hasOption(called, meant) ? meant : undefined;
}

function hasOption(called: AnyCommand, name: string): boolean {
  return allOptions(called).some(({ long }) => long === name);
}

export function exampleHint(called: AnyCommand): string {
  const [example] = examplesBelow(called);
  return example === undefined ? seeHelp(called) : `For example: ${example}\n${seeHelp(called)}`;
}

function seeHelp(called: AnyCommand): string {
  return `See: ${pathOf(called)} --help`;
}

function hintFor({ cwd }: Terminal, { code, message }: CommanderError, called: AnyCommand): string {
  const help = seeHelp(called);
  const [, option] = /^error: unknown option '(.*?)'/.exec(message) ?? [];
  const takesFiles = called.registeredArguments.some((argument) => argument.name() === 'file');
  if (option !== undefined && takesFiles && existsSync(resolve(cwd, option))) {
    return `To pass the file: ${quoted(`./${option}`)}`;
  }
  if (option?.includes(' ')) return `Put -- before text that begins with a dash. ${help}`;
  if (/^error: option '-n, --limit /.test(message) && hasOption(called, '--all')) {
    return `To get all pages: --all. ${help}`;
  }
  if (code === 'commander.excessArguments') return excessHint(called) + help;
  return code === 'commander.missingArgument' ? exampleHint(called) : help;
}

/** Returns a hint for extra arguments. For example, `memory list ada` probably means --user ada. */
function excessHint(called: AnyCommand): string {
  const { registeredArguments, args, commands } = called;
  const [user = ''] = args;
  const last = registeredArguments.at(-1);
  const isUser =
    registeredArguments.length + commands.length === 0 && called.opts().user === undefined;
  if (isUser && hasOption(called, '--user')) {
    return `Did you mean: ${pathOf(called)} --user ${quoted(user)}\n`;
  }
  if (['text', 'query'].includes(last?.name() ?? '')) {
    return 'Put text that contains spaces in quotes. ';
  }
  if (last?.name() !== 'file') return '';
  const takesLines = last.description.includes('- for stdin');
  const several = `To combine several JSON Lines files: cat a.jsonl b.jsonl | ${pathOf(called)} -\n`;
  return `Pass one file at a time. ${takesLines ? several : ''}`;
}

/** For example `memory ingest chat`. */
function pathOf(command: AnyCommand): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
