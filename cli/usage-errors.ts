import {
  type AnyCommand,
  type CommanderError,
  examplesBelow,
  helpFor,
  pathBelowRoot,
} from './commander.ts';
import { type CliError, usageError } from './errors.ts';
import { capitalized } from './terminal/text.ts';

/** Describes an invalid command line, with a suggestion where the intention is clear. */
export function usageFailure({ code, message }: CommanderError, called: AnyCommand): CliError {
  if (code === 'commander.help') return usageError('Missing command.', hintFor(called));
  const text = capitalized(message.replace(/^error: /, '')).replace('\n(Did', ' (Did');
  const [problem, word = ''] = /^Unknown \w+ '([^']*)'/.exec(text) ?? [];
  if (problem !== undefined && /^-.* /.test(word)) {
    return usageError(`${text}. Put -- before text that begins with a dash.`, hintFor(called));
  }
  const meant = code === 'commander.unknownCommand' ? meantCommand(word, called) : undefined;
  return usageError(meant ? `${problem} (Did you mean ${meant}?)` : text, hintFor(called));
}

/** Returns the first example of a command without subcommands, and where to find its help. */
export function hintFor(called: AnyCommand): string {
  const [example] = called.commands.length > 0 ? [] : examplesBelow(called);
  const help = helpFor(called);
  return example === undefined ? help : `For example: ${example}\n${help}`;
}

/** Our commands, each with the names that other tools use. */
const foreignNames: Record<string, string[]> = {
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
};

/** Returns our name for what other tools call `word`. */
function meantCommand(word: string, called: AnyCommand): string | undefined {
  const path = `${pathBelowRoot(called)} ${word}`.trim();
  // The word looks like a file or folder, not like a kind of record.
  if (/^ingest .*[./]/.test(path)) return word.endsWith('.jsonl') ? 'batch' : 'document';
  return Object.keys(foreignNames).find((name) => foreignNames[name]?.includes(path));
}
