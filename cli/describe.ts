import { type AnyCommand, CommanderError } from './commander.ts';
import { CliError, exitCodes, type Failure } from './failure.ts';
import { asCalled, type Io, noteStyled } from './io.ts';
import { printJson } from './output.ts';
import { serviceFailure } from './service-failure.ts';
import { paint, visible } from './text.ts';
import { exampleHint, usageFailure } from './usage-failure.ts';

/*
 * Every error of the SDK, of commander and of our own, put into one shape: what happened and why,
 * what to run next, and the exit code.
 */

type Context = { called: AnyCommand; baseUrl?: string; apiKey?: string; project?: string };

/** On stderr for people; with --json on stdout, where a program reads. */
export async function tellFailure(io: Io, json: true | undefined, failure: Failure) {
  const { exitCode: _, ...told } = failure;
  const { message, requestId } = failure;
  const hint = failure.hint === null ? null : asCalled(io, failure.hint);
  if (json) return printJson(io, { error: { ...told, hint } });
  const lines = [`${paint(io.stderr, 'red', 'Error:')} ${visible(message)}`];
  if (hint !== null) lines.push(visible(hint));
  if (requestId !== null) lines.push(paint(io.stderr, 'dim', visible(`Request id: ${requestId}`)));
  return noteStyled(io, lines.join('\n'));
}

export async function describeError(io: Io, error: unknown, context: Context): Promise<Failure> {
  if (io.interrupted.aborted) return interrupted(io.interrupted.reason);
  if (error instanceof CliError) return withExample(error, context.called);
  if (error instanceof CommanderError) return usageFailure(io, error, context.called);
  const { MemoryServiceError } = await import('../sdk/index.ts');
  if (error instanceof MemoryServiceError) return serviceFailure(io, error, context);
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
