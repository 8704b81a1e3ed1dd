import { serviceFailure } from './client/service-errors.ts';
import { type AnyCommand, CommanderError } from './commander.ts';
import { CliError, errorText, exitCodes, type Failure } from './errors.ts';
import { printJson } from './terminal/output.ts';
import { asCalled, noteStyled, type Terminal } from './terminal/terminal.ts';
import { escapeControls, paint } from './terminal/text.ts';
import { exampleHint, usageFailure } from './usage-errors.ts';

/*
 * Converts errors of the SDK, of commander and of the command line into one type with a message, a
 * hint and an exit code.
 */

type Context = { called: AnyCommand; baseUrl?: string; apiKey?: string; project?: string };

/** Writes the failure to stderr as text or, with --json, to stdout as JSON. */
export async function reportFailure(term: Terminal, json: true | undefined, failure: Failure) {
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

export async function describeError(
  term: Terminal,
  error: unknown,
  context: Context,
): Promise<Failure> {
  if (term.interrupted.aborted) {
    const exitCode = term.interrupted.reason === 'SIGTERM' ? 143 : 130;
    return new CliError('interrupted', 'Interrupted.', undefined, exitCode);
  }
  // A usage error without a hint shows an example.
  if (error instanceof CliError && error.exitCode === exitCodes.usage && error.hint === null) {
    return new CliError(error.code, error.message, exampleHint(context.called), error.exitCode);
  }
  if (error instanceof CliError) return error;
  if (error instanceof CommanderError) return usageFailure(term, error, context.called);
  const { MemoryServiceError } = await import('../sdk/index.ts');
  if (error instanceof MemoryServiceError) return serviceFailure(term, error, context);
  return new CliError('failed', errorText(error));
}
