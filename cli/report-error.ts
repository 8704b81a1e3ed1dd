import { serviceFailure } from './client/service-errors.ts';
import { type AnyCommand, CommanderError } from './commander.ts';
import { CliError, exitCodes, type Failure } from './errors.ts';
import { printJson } from './terminal/output.ts';
import { asCalled, noteStyled, type Terminal } from './terminal/terminal.ts';
import { escapeControls, paint } from './terminal/text.ts';
import { exampleHint, usageFailure } from './usage-errors.ts';

/*
 * Every error of the SDK, of commander and of our own, put into one shape: what happened and why,
 * what to run next, and the exit code.
 */

type Context = { called: AnyCommand; baseUrl?: string; apiKey?: string; project?: string };

/** On stderr for people; with --json on stdout, where a program reads. */
export async function reportFailure(term: Terminal, json: true | undefined, failure: Failure) {
  const { exitCode: _, ...shown } = failure;
  const { message, requestId } = failure;
  const hint = failure.hint === null ? null : asCalled(term, failure.hint);
  if (json) return printJson(term, { error: { ...shown, hint } });
  const lines = [`${paint(term.stderr, 'red', 'Error:')} ${escapeControls(message)}`];
  if (hint !== null) lines.push(escapeControls(hint));
  if (requestId !== null)
    lines.push(paint(term.stderr, 'dim', escapeControls(`Request id: ${requestId}`)));
  return noteStyled(term, lines.join('\n'));
}

export async function describeError(
  term: Terminal,
  error: unknown,
  context: Context,
): Promise<Failure> {
  if (term.interrupted.aborted) return interrupted(term.interrupted.reason);
  if (error instanceof CliError) return withExample(error, context.called);
  if (error instanceof CommanderError) return usageFailure(term, error, context.called);
  const { MemoryServiceError } = await import('../sdk/index.ts');
  if (error instanceof MemoryServiceError) return serviceFailure(term, error, context);
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'failed', message, hint: null, requestId: null, exitCode: exitCodes.failed };
}

function interrupted(signal: unknown): Failure {
  return {
    code: 'interrupted',
    message: 'Interrupted.',
    hint: null,
    requestId: null,
    exitCode: signal === 'SIGTERM' ? 143 : 130,
  };
}

/** A usage error that names no way out is answered with an example. */
function withExample(error: CliError, called: AnyCommand): Failure {
  const { code, message, requestId, exitCode } = error;
  const hint = exitCode === exitCodes.usage ? (error.hint ?? exampleHint(called)) : error.hint;
  return { code, message, hint, requestId, exitCode };
}
