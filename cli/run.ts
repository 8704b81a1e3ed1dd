import { serviceFailure } from './client/service-errors.ts';
import {
  type AnyCommand,
  CommanderError,
  examplesBelow,
  helpFor,
  pathBelowRoot,
} from './commander.ts';
import { CliError, ExitWith, errorText, exitCodes, usageError } from './errors.ts';
import { createProgram } from './program.ts';
import { printJson } from './terminal/output.ts';
import { OutputClosed } from './terminal/process-output.ts';
import { asCalled, noteStyled, type Terminal } from './terminal/terminal.ts';
import { capitalized, escapeControls, escapeLine, paint } from './terminal/text.ts';

export async function run(argv: string[], term: Terminal): Promise<number> {
  if (argv[0] === '__complete') {
    const { printCompletions } = await import('./commands/completion.ts');
    await printCompletions(term, await createProgram(term), argv.slice(1));
    return exitCodes.done;
  }
  const program = await createProgram(term, argv);
  let called: AnyCommand = program;
  for (const parent of [program, ...program.commands]) {
    parent.hook('preSubcommand', (_, command) => {
      called = command;
    });
  }
  try {
    if (argv[0] === 'help') await showHelp(program, argv);
    else await program.parseAsync(argv, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof ExitWith) return error.exitCode;
    if (error instanceof OutputClosed) return exitCodes.done;
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const isHelp = error instanceof CommanderError && error.code === 'commander.help';
    const options = program.opts();
    if (isHelp && !options.json) return exitCodes.usage;
    const failure = await failureOf({ ...term, options }, error, called);
    // If stdout is full or closed, stderr may still work.
    await reportFailure({ ...term, options }, failure).catch(() => reportFailure(term, failure));
    return failure.exitCode;
  }
}

/** Commander's own help command knows only the commands at the top. */
async function showHelp(program: AnyCommand, argv: string[]): Promise<void> {
  const words = argv.filter((word) => word !== 'help' && !word.startsWith('-'));
  let command = program;
  for (const word of words) {
    const below = command.commands.find((one) => one.name() === word);
    if (below !== undefined) command = below;
    // Commander suggests a similar command. A command without subcommands would run.
    else if (command.commands.length > 0) await program.parseAsync(words, { from: 'user' });
    else throw usageError(`Unknown command '${word}'`, helpFor(command));
  }
  command.outputHelp();
}

/** Writes the failure to stderr as text or, with --json, to stdout as JSON. */
async function reportFailure(term: Terminal, failure: CliError): Promise<void> {
  const { code, message, requestId, details } = failure;
  const hint = failure.hint === null ? null : asCalled(term, failure.hint);
  if (term.options.json) {
    return printJson(term, { error: { code, message, hint, requestId, details } });
  }
  // A message is one line: a newline in an option's value must not look like a line of ours.
  const lines = [`${paint(term.stderr, 'red', 'Error:')} ${escapeLine(message)}`];
  if (details && details.length > 1) {
    lines.push(...details.map((one) => escapeLine(`  ${one.field}: ${one.message}`)));
  }
  if (hint !== null) lines.push(escapeControls(hint));
  if (requestId !== null) lines.push(paint(term.stderr, 'dim', `Request id: ${requestId}`));
  return noteStyled(term, lines.join('\n'));
}

async function failureOf(term: Terminal, error: unknown, called: AnyCommand): Promise<CliError> {
  if (term.interrupted.aborted) {
    const exitCode = term.interrupted.reason === 'SIGTERM' ? 143 : 130;
    return new CliError('interrupted', 'Interrupted.', undefined, exitCode);
  }
  // A usage error without a hint shows an example.
  if (error instanceof CliError) {
    const isBare = error.exitCode === exitCodes.usage && error.hint === null;
    return isBare ? usageError(error.message, hintFor(called)) : error;
  }
  if (error instanceof CommanderError) return usageFailure(error, called);
  const { MemoryServiceError } = await import('../sdk/index.ts');
  if (!(error instanceof MemoryServiceError)) return new CliError('failed', errorText(error));
  return serviceFailure(term, error, called);
}

/** Describes an invalid command line, with a suggestion where the intention is clear. */
function usageFailure({ code, message }: CommanderError, called: AnyCommand): CliError {
  if (code === 'commander.help') return usageError('Missing command.', hintFor(called));
  // A command with subcommands takes no arguments.
  if (code === 'commander.excessArguments' && called.commands.length > 0) {
    return usageError(`Unknown command '${called.args[0]}'`, hintFor(called));
  }
  const text = capitalized(message.replace(/^error: /, '')).replace('\n(Did', ' (Did');
  const [problem, word = ''] = /^Unknown \w+ '([^']*)'/.exec(text) ?? [];
  if (problem !== undefined && /^-.* /.test(word)) {
    return usageError(`${text}. Put -- before text that begins with a dash.`, hintFor(called));
  }
  const meant = code === 'commander.unknownCommand' ? meantCommand(word, called) : undefined;
  return usageError(meant ? `${problem} (Did you mean ${meant}?)` : text, hintFor(called));
}

/** Returns the first example of a command without subcommands, and where to find its help. */
function hintFor(called: AnyCommand): string {
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
