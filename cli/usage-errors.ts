import {
  type AnyCommand,
  allOptions,
  type CommanderError,
  examplesBelow,
  pathBelowRoot,
} from './commander.ts';
import { type CliError, usageError } from './errors.ts';
import { capitalized, quoted } from './terminal/text.ts';

/* Describes an invalid command line, with a suggestion where the intention is clear. */

export function usageFailure({ code, message }: CommanderError, called: AnyCommand): CliError {
  const text = capitalized(message.replace(/^error: /, ''));
  const [problem, word = ''] = /^Unknown \w+ '([^']*)'/.exec(text) ?? [];
  const isCommand = code === 'commander.unknownCommand';
  const meant = isCommand ? meantCommand(word, called) : meantOption(word, called);
  const suggestion =
    meant === undefined ? text.replace('\n(Did', ' (Did') : `${problem} (Did you mean ${meant}?)`;
  return usageError(suggestion, hintFor(code, text, called));
}

export function exampleHint(called: AnyCommand): string {
  const [example] = examplesBelow(called);
  return example === undefined ? seeHelp(called) : `For example: ${example}\n${seeHelp(called)}`;
}

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

/* Return our name for what other tools call `word`, in place of commander's spelling suggestion. */

function meantCommand(word: string, called: AnyCommand): string | undefined {
  const path = `${pathBelowRoot(called)} ${word}`.trim();
  // The word looks like a file or folder, not like a kind of record.
  if (/^ingest .*[./]/.test(path)) return word.endsWith('.jsonl') ? 'batch' : 'document';
  return ourName(foreignCommands, path) ?? ourName(foreignCommands, path.replace(/s$/, ''));
}

function meantOption(word: string, called: AnyCommand): string | undefined {
  const meant = ourName(foreignOptions, word.replace(/=.*/s, ''));
  return meant !== undefined && hasOption(called, meant) ? meant : undefined;
}

function hasOption(called: AnyCommand, name: string): boolean {
  return allOptions(called).some(({ long }) => long === name);
}

function seeHelp(called: AnyCommand): string {
  return `See: ${pathOf(called)} --help`;
}

function hintFor(code: string, text: string, called: AnyCommand): string {
  const help = seeHelp(called);
  if (/^Unknown option '[^']* /.test(text)) {
    return `Put -- before text that begins with a dash. ${help}`;
  }
  if (text.startsWith("Option '-n, --limit ") && hasOption(called, '--all')) {
    return `Use --all to get every page. ${help}`;
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
  const takesLines = last.description.includes('- for stdin') && called.name() !== 'restore';
  const several = `To combine several JSON Lines files: cat a.jsonl b.jsonl | ${pathOf(called)} -\n`;
  return `Pass one file at a time. ${takesLines ? several : ''}`;
}

function pathOf(called: AnyCommand): string {
  return `memory ${pathBelowRoot(called)}`.trim();
}
