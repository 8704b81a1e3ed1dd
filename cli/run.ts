import { serviceFailure } from './client/service-errors.ts';
import { type AnyCommand, CommanderError, type GlobalOptions, helpFor } from './commander.ts';
import { CliError, ExitWith, errorText, exitCodes, usageError } from './errors.ts';
import { createProgram } from './program.ts';
import { printJson } from './terminal/output.ts';
import { OutputClosed } from './terminal/process-output.ts';
import { asCalled, noteStyled, type Terminal, withoutColor } from './terminal/terminal.ts';
import { escapeControls, escapeLine, paint } from './terminal/text.ts';
import { hintFor, usageFailure } from './usage-errors.ts';

export async function run(argv: string[], processTerminal: Terminal): Promise<number> {
  const term = argv.includes('--no-color') ? withoutColor(processTerminal) : processTerminal;
  if (argv[0] === '__complete') return complete(term, argv.slice(1));
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
    if (error instanceof ExitWith) return error.exitCode;
    if (error instanceof OutputClosed) return exitCodes.done;
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const isHelp = error instanceof CommanderError && error.code === 'commander.help';
    if (isHelp && !program.opts().json) return exitCodes.usage;
    const failure = await failureOf(term, error, called, program.opts());
    // If stdout is full or closed, stderr may still work.
    await reportFailure(term, program.opts().json, failure).catch(() =>
      reportFailure(term, undefined, failure),
    );
    return failure.exitCode;
  }
}

async function complete(term: Terminal, words: string[]): Promise<number> {
  const { printCompletions } = await import('./completion.ts');
  await printCompletions(term, await createProgram(term), words);
  return exitCodes.done;
}

/** Writes the failure to stderr as text or, with --json, to stdout as JSON. */
async function reportFailure(term: Terminal, json: true | undefined, failure: CliError) {
  const { code, message, requestId, details } = failure;
  const hint = failure.hint === null ? null : asCalled(term, failure.hint);
  if (json) return printJson(term, { error: { code, message, hint, requestId, details } });
  // A message is one line: a newline in an option's value must not look like a line of ours.
  const lines = [`${paint(term.stderr, 'red', 'Error:')} ${escapeLine(message)}`];
  if (details && details.length > 1) {
    lines.push(...details.map((one) => escapeLine(`  ${one.field}: ${one.message}`)));
  }
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
    return isBare ? usageError(error.message, hintFor(called)) : error;
  }
  if (error instanceof CommanderError) return usageFailure(error, called);
  const { MemoryServiceError } = await import('../sdk/index.ts');
  if (!(error instanceof MemoryServiceError)) return new CliError('failed', errorText(error));
  return serviceFailure(term, error, options, helpFor(called));
}
