import { type AnyCommand, CommanderError } from './commander.ts';
import { examplesBelow } from './examples.ts';
import { CliError, exitCodes, type Failure } from './failure.ts';
import { asCalled, type Io, note } from './io.ts';
import { printJson } from './output.ts';
import { serviceFailure } from './service-failure.ts';
import { paint, visible } from './text.ts';

/*
 * Every error of the SDK, of commander and of our own, put into one shape: what happened and why,
 * what to run next, and the exit code.
 */

type Context = { called: AnyCommand; baseUrl?: string };

/** On stderr for people; with --json on stdout, where a program reads. */
export async function tellFailure(io: Io, json: true | undefined, failure: Failure) {
  const { code, message, hint, requestId } = failure;
  if (json) return printJson(io, { error: { code, message, hint, requestId } });
  const lines = [`${paint(io.stderr, 'red', 'Error:')} ${visible(message)}`];
  if (hint !== null) lines.push(visible(asCalled(io, hint)));
  if (requestId !== null) lines.push(paint(io.stderr, 'dim', `Request id: ${requestId}`));
  return note(io, lines.join('\n'));
}

export async function describeError(io: Io, error: unknown, context: Context): Promise<Failure> {
  if (io.interrupted.aborted) return interrupted(io.interrupted.reason);
  if (error instanceof CliError) return withExample(error, context.called);
  if (error instanceof CommanderError) return usageFailure(error, context.called);
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

function exampleHint(called: AnyCommand): string {
  const [example] = examplesBelow(called);
  const help = `See: ${pathOf(called)} --help`;
  return example === undefined ? help : `Such as: ${example}\n${help}`;
}

function usageFailure(error: CommanderError, called: AnyCommand): Failure {
  const message = error.message.replace(/^error: /, '');
  return {
    code: 'usage',
    message: message.charAt(0).toUpperCase() + message.slice(1),
    hint: usageHint(error, called),
    requestId: null,
    exitCode: exitCodes.usage,
  };
}

function usageHint(error: CommanderError, called: AnyCommand): string {
  const help = `See: ${pathOf(called)} --help`;
  if (error.code === 'commander.excessArguments') {
    return `Put a text of several words in quotes. ${help}`;
  }
  if (error.code === 'commander.unknownOption' && /'-[^']* /.test(error.message)) {
    return `Put -- before a text that begins with a dash. ${help}`;
  }
  return error.code === 'commander.missingArgument' ? exampleHint(called) : help;
}

/** `memory ingest chat` */
export function pathOf(command: AnyCommand): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
