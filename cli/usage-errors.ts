import { allOptions, examplesBelow, pathBelowRoot } from './command-metadata.ts';
import type { AnyCommand, CommanderError } from './commander.ts';
import { type CliError, usageError } from './errors.ts';
import { capitalized, quoted } from './terminal/text.ts';

/** Our commands and options, each with the names that other tools use. */
const foreignCommands: Record<string, string[]> = {
  save: ['add', 'create', 'new'],
  search: ['find'],
  delete: ['rm', 'remove'],
  get: ['show'],
  list: ['ls'],
  update: ['edit'],
  support: ['ingest ticket'],
  chat: ['ingest conversation'],
  record: ['ingest event'],
  document: ['ingest file', 'ingest folder'],
  batch: ['ingest jsonl'],
  create: ['keys add', 'keys new'],
  revoke: ['keys delete', 'keys remove'],
  set: ['profile add'],
  remove: ['profile delete'],
};
const foreignOptions: Record<string, string[]> = {
  '--cursor': ['--page', '--offset'],
  '--database': ['--db', '--database-url'],
  '--yes': ['--force'],
  '--metadata': ['--tag'],
  '--json': ['--format', '--output'],
};

function ourName(names: Record<string, string[]>, foreign: string): string | undefined {
  return Object.keys(names).find((name) => names[name]?.includes(foreign));
}

export function usageFailure(error: CommanderError, called: AnyCommand): CliError {
  const message = withSuggestion(error.message.replace(/^error: /, ''), called);
  return usageError(capitalized(message), hintFor(error, called));
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
  return ourName(foreignCommands, path);
}

function meantOption(word: string, called: AnyCommand): string | undefined {
  const meant = ourName(foreignOptions, word.replace(/=.*/s, ''));
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

function hintFor({ code, message }: CommanderError, called: AnyCommand): string {
  const help = seeHelp(called);
  const [, option] = /^error: unknown option '(.*?)'/.exec(message) ?? [];
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

function pathOf(command: AnyCommand): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
