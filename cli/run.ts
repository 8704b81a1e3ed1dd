import { serviceFailure } from './client/service-errors.ts';
import {
  type AnyCommand,
  allOptions,
  CommanderError,
  examplesBelow,
  type GlobalOptions,
  pathBelowRoot,
} from './commander.ts';
import { CliError, ExitWith, errorText, exitCodes, usageError } from './errors.ts';
import { createProgram, HelpAsJson } from './program.ts';
import { printJson } from './terminal/output.ts';
import { OutputClosed } from './terminal/process-output.ts';
import { asCalled, noteStyled, type Terminal, withoutColor } from './terminal/terminal.ts';
import { capitalized, escapeControls, paint, quoted } from './terminal/text.ts';

export async function run(argv: string[], processTerminal: Terminal): Promise<number> {
  const term = argv.includes('--no-color') ? withoutColor(processTerminal) : processTerminal;
  const program = await createProgram(term, argv);
  let called: AnyCommand = program;
  for (const parent of [program, ...program.commands]) {
    parent.hook('preSubcommand', (_, command) => {
      called = command;
    });
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof HelpAsJson) {
      const words = pathBelowRoot(error.command).split(' ').filter(Boolean);
      return run(['help', ...words, '--json'], term);
    }
    if (error instanceof ExitWith) return error.exitCode;
    if (error instanceof OutputClosed) return exitCodes.done;
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage;
    const failure = await failureOf(term, error, called, program.opts());
    // If stdout is full or closed, stderr may still work.
    await reportFailure(term, program.opts().json, failure).catch(() =>
      reportFailure(term, undefined, failure),
    );
    return failure.exitCode;
  }
}

/** Writes the failure to stderr as text or, with --json, to stdout as JSON. */
async function reportFailure(term: Terminal, json: true | undefined, failure: CliError) {
  const { code, message, requestId, details } = failure;
  const hint = failure.hint === null ? null : asCalled(term, failure.hint);
  if (json) return printJson(term, { error: { code, message, hint, requestId, details } });
  const lines = [`${paint(term.stderr, 'red', 'Error:')} ${escapeControls(message)}`];
  if (hint !== null) lines.push(escapeControls(hint));
  if (requestId !== null) {
    lines.push(paint(term.stderr, 'dim', escapeControls(`Request id: ${requestId}`)));
  }
  return noteStyled(term, lines.join('\n'));
}

async function failureOf(
  term: Terminal,
  error: unknown,
  called: AnyCommand,
  options: GlobalOptions,
): Promise<CliError> {
  if (term.interrupted.aborted) {
    const exitCode = term.interrupted.reason === 'SIGTERM' ? 143 : 130;
    return new CliError('interrupted', 'Interrupted.', undefined, exitCode);
  }
  // A usage error without a hint shows an example.
  if (error instanceof CliError) {
    const isBare = error.exitCode === exitCodes.usage && error.hint === null;
    return isBare ? usageError(error.message, exampleHint(called)) : error;
  }
  if (error instanceof CommanderError) return usageFailure(error, called);
  const { MemoryServiceError } = await import('../sdk/index.ts');
  if (!(error instanceof MemoryServiceError)) return new CliError('failed', errorText(error));
  return serviceFailure(term, error, options, called.name());
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

function usageFailure({ code, message }: CommanderError, called: AnyCommand): CliError {
  const text = capitalized(message.replace(/^error: /, ''));
  const [problem, word = ''] = /^Unknown \w+ '([^']*)'/.exec(text) ?? [];
  const isCommand = code === 'commander.unknownCommand';
  const meant = isCommand ? meantCommand(word, called) : meantOption(word, called);
  const suggestion = meant === undefined ? text : `${problem}\n(Did you mean ${meant}?)`;
  return usageError(suggestion, hintFor(code, text, called));
}

/* Our name for what other tools call `word`. It replaces a name with a similar spelling. */

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

function exampleHint(called: AnyCommand): string {
  const [example] = examplesBelow(called);
  return example === undefined ? seeHelp(called) : `For example: ${example}\n${seeHelp(called)}`;
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

function pathOf(called: AnyCommand): string {
  return `memory ${pathBelowRoot(called)}`.trim();
}
