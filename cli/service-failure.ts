import type { MemoryServiceError } from '../sdk/index.ts';
import { resolveBaseUrl } from './connect.ts';
import { exitCodes, type Failure } from './failure.ts';
import type { Io } from './io.ts';

type Context = { baseUrl?: string };

/** An error of the SDK in the words of the command line. */
export function serviceFailure(io: Io, error: MemoryServiceError, context: Context): Failure {
  const { code, requestId = null } = error;
  const { message, hint = null, exitCode = exitCodes.failed } = inOurWords(io, error, context);
  return { code, message, hint, requestId, exitCode };
}

type Words = { message: string; hint?: string; exitCode?: number };

function inOurWords(io: Io, error: MemoryServiceError, context: Context): Words {
  switch (error.name) {
    case 'ConnectionError':
    case 'TimeoutError':
      return unreachable(resolveBaseUrl(io, context), error);
    case 'AuthenticationError':
      return {
        message: `The API key was refused: ${error.message}.`,
        hint: 'Check MEMORY_API_KEY; where the server runs: memory keys list, memory keys create',
        exitCode: exitCodes.refused,
      };
    case 'NotFoundError':
      return {
        message: `Not found: ${error.message}.`,
        hint: 'Ids are listed by: memory list --user <id>',
        exitCode: exitCodes.notFound,
      };
    case 'WaitTimeoutError':
      return stillProcessing(error);
    default:
      return { message: problemOf(error), ...hintFor(error) };
  }
}

/** Several invalid fields are easier to read one a line than in one sentence. */
function problemOf({ message, details }: MemoryServiceError): string {
  if (details.length < 2) return message;
  return [
    'The request is invalid:',
    ...details.map((one) => `  ${one.field}: ${one.message}`),
  ].join('\n');
}

function hintFor({ name, code, retryAfterMs }: MemoryServiceError): { hint?: string } {
  if (code === 'idempotency_key_reused') {
    return { hint: 'Leave --idempotency-key out, or give a new one.' };
  }
  if (name === 'PayloadTooLargeError') {
    return { hint: 'Split it, or raise MEMORY_MAX_BODY_BYTES of the server.' };
  }
  if (name === 'RateLimitError' && retryAfterMs !== undefined) {
    return { hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s.` };
  }
  return name === 'ServerError' ? { hint: 'Try again in a while; see the log of the server.' } : {};
}

function stillProcessing(error: MemoryServiceError): Words {
  const id = 'memoryId' in error ? String(error.memoryId) : '<id>';
  return {
    message: `${id} is still processing. Nothing is lost, the service goes on with it.`,
    hint: `Wait on: memory wait ${id}`,
    exitCode: exitCodes.processing,
  };
}

function unreachable(baseUrl: string, error: MemoryServiceError): Words {
  const local = /^https?:\/\/(127\.|localhost\b|\[::1\])/.test(baseUrl);
  return {
    message: `Cannot reach ${baseUrl} (${whyUnreachable(error)}).`,
    hint: local
      ? 'Is the server running? Try: memory serve'
      : 'Check the address: --base-url, or MEMORY_BASE_URL',
    exitCode: exitCodes.unreachable,
  };
}

function whyUnreachable(error: MemoryServiceError): string {
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (/refused/i.test(code)) return 'connection refused';
  if (/notfound|dns/i.test(code)) return 'no such host';
  return error.message;
}
