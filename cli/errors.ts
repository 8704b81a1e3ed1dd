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

/** A failure as reported to the user. */
export type Failure = {
  code: string;
  message: string;
  hint: string | null;
  requestId: string | null;
  details?: FieldError[];
  exitCode: number;
};

/** An error of the command line. run.ts converts errors of the SDK to the same type. */
export class CliError extends Error implements Failure {
  override name = 'CliError';
  readonly code: string;
  readonly hint: string | null;
  readonly requestId = null;
  readonly exitCode: number;

  constructor(code: string, message: string, hint?: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.code = code;
    this.hint = hint ?? null;
    this.exitCode = exitCode;
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
export class ExitWith extends Error {
  override name = 'ExitWith';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}
