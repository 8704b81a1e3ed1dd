import { serviceFailure } from './client/service-errors.ts';
import { pathBelowRoot } from './command-metadata.ts';
import { commandNames } from './command-names.ts';
import { type AnyCommand, CommanderError } from './commander.ts';
import { CliError, ExitWith, errorText, exitCodes, usageError } from './errors.ts';
import { commandWord, createProgram, HelpAsJson } from './program.ts';
import { printJson } from './terminal/output.ts';
import { OutputClosed } from './terminal/process-output.ts';
import { asCalled, noteStyled, type Terminal, withoutColor } from './terminal/terminal.ts';
import { escapeControls, paint } from './terminal/text.ts';
import { exampleHint, usageFailure } from './usage-errors.ts';

export async function run(argv: string[], processTerminal: Terminal): Promise<number> {
  const term = argv.includes('--no-color') ? withoutColor(processTerminal) : processTerminal;
  const word = commandWord(argv);
  const name = commandNames.find((one) => one === word);
  // Without a known command, load all of them for the help or for a spelling suggestion.
  const program = await createProgram(term, name && [name]);
  let called: AnyCommand = program;
  for (const parent of [program, ...program.commands]) {
    parent.hook('preSubcommand', (_, command) => {
      called = command;
    });
  }
  try {
    await program.parseAsync(argv, { from: 'user' }).catch((error) => {
      if (error instanceof HelpAsJson) return printHelpAsJson(term, error.command);
      throw error;
    });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof ExitWith) return error.exitCode;
    if (error instanceof OutputClosed) return exitCodes.done;
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage;
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const failure = await failureOf(term, error, { called, ...program.opts() });
    // If stdout is full or closed, stderr may still work.
    await reportFailure(term, program.opts().json, failure).catch(() =>
      reportFailure(term, undefined, failure),
    );
    return failure.exitCode;
  }
}

async function printHelpAsJson(term: Terminal, command: AnyCommand): Promise<void> {
  const words = pathBelowRoot(command).split(' ').filter(Boolean);
  const help = await import('./help-json.ts');
  await help.printHelpAsJson(term, await createProgram(term), words);
}

type Context = { called: AnyCommand; baseUrl?: string; apiKey?: string; project?: string };

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

async function failureOf(term: Terminal, error: unknown, context: Context): Promise<CliError> {
  if (term.interrupted.aborted) {
    const exitCode = term.interrupted.reason === 'SIGTERM' ? 143 : 130;
    return new CliError('interrupted', 'Interrupted.', undefined, exitCode);
  }
  // A usage error without a hint shows an example.
  if (error instanceof CliError) {
    const isBare = error.exitCode === exitCodes.usage && error.hint === null;
    return isBare ? usageError(error.message, exampleHint(context.called)) : error;
  }
  if (error instanceof CommanderError) return usageFailure(error, context.called);
  const { MemoryServiceError } = await import('../sdk/index.ts');
  if (error instanceof MemoryServiceError) return serviceFailure(term, error, context);
  return new CliError('failed', errorText(error));
}
