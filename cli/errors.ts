import type { FieldError } from '../sdk/index.ts';

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  unreachable: 5,
  processing: 8,
} as const;

/** A failure as reported to the user. run.ts converts all other errors to this type. */
export class CliError extends Error {
  override name = 'CliError';
  /** Set only for errors from the service. */
  requestId: string | null = null;
  details: FieldError[] | undefined;

  constructor(
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
    readonly exitCode: number = exitCodes.failed,
  ) {
    super(message);
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError('usage', message, hint, exitCodes.usage);
}

/** Returns the code of a system or service error, or '' if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Ends the command with an exit code after everything has been reported. */
export function exitWith(exitCode: number): void {
  if (exitCode !== exitCodes.done) throw new ExitWith(exitCode);
}

export class ExitWith extends Error {
  override name = 'ExitWith';

  constructor(readonly exitCode: number) {
    super(`exit ${exitCode}`);
  }
}
