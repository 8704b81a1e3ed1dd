import type { MemoryServiceError } from '../sdk/index.ts';
import { resolveApiKey, resolveBaseUrl } from './connect.ts';
import { exitCodes, type Failure } from './failure.ts';
import type { Io } from './io.ts';
import { shownProfilePath } from './profile.ts';

type Context = { baseUrl?: string; apiKey?: string };

/** An error of the SDK in the words of the command line. */
export async function serviceFailure(
  io: Io,
  error: MemoryServiceError,
  context: Context,
): Promise<Failure> {
  const { code, requestId = null, details } = error;
  const words = await inOurWords(io, error, context);
  const { message, hint = null, exitCode = exitCodes.failed } = words;
  return { code, message, hint, requestId, exitCode, ...(details.length > 0 && { details }) };
}

type Words = { message: string; hint?: string; exitCode?: number };

async function inOurWords(io: Io, error: MemoryServiceError, context: Context): Promise<Words> {
  switch (error.name) {
    case 'ConnectionError':
    case 'TimeoutError':
      return unreachable((await resolveBaseUrl(io, context)).value, error);
    case 'AuthenticationError':
      return refused(io, error, context);
    case 'NotFoundError':
      return notFound((await resolveBaseUrl(io, context)).value, error);
    case 'WaitTimeoutError':
      return stillProcessing(error);
    default:
      return { message: problemOf(error), ...hintFor(error) };
  }
}

/** What the service says of headers helps nobody here; which key it was does. */
async function refused(io: Io, error: MemoryServiceError, context: Context): Promise<Words> {
  const { value: baseUrl } = await resolveBaseUrl(io, context);
  const key = await resolveApiKey(io, context, baseUrl);
  const which = {
    flag: 'the one of --api-key',
    environment: 'the one in MEMORY_API_KEY',
    profile: `the key in ${shownProfilePath(io)}`,
    default: 'it',
  }[key?.from ?? 'default'];
  const why =
    error.status === 401 ? `${which} is unknown, expired or revoked` : `${which}: ${error.message}`;
  const exitCode = exitCodes.refused;
  const hint =
    withoutV1(baseUrl) ??
    'Where the server runs: memory keys list, or a new one: memory keys create --save';
  return { message: `The API key was refused: ${why}.`, hint, exitCode };
}

function notFound(baseUrl: string, { message, code }: MemoryServiceError): Words {
  const exitCode = exitCodes.notFound;
  const told = { message: `Not found: ${message}.`, exitCode };
  const isRoute = code !== 'not_found' || message.startsWith('there is no such route');
  if (!isRoute) return { ...told, hint: 'Ids are listed by: memory list --user <id>' };
  return { ...told, hint: withoutV1(baseUrl) ?? `Is the base URL right? ${baseUrl}` };
}

/** Below /v1 every path asks for a key, also those that have none, as /v1/health. */
function withoutV1(baseUrl: string): string | undefined {
  if (!baseUrl.endsWith('/v1')) return undefined;
  return `Leave /v1 out of the base URL: ${baseUrl.slice(0, -'/v1'.length)}`;
}

/** What is refused before the service itself has seen it, is refused without words. */
export function saidOf({ status, code, message }: MemoryServiceError): string {
  if (code !== 'unexpected_answer') return message;
  if (status === 413) return 'the request is larger than the service reads';
  const isAddress = status === 414 || status === 431;
  return isAddress ? 'the id or query is longer than the service reads' : message;
}

/** Several invalid fields are easier to read one a line than in one sentence. */
function problemOf(error: MemoryServiceError): string {
  const { details } = error;
  if (details.length < 2) return saidOf(error);
  return [
    'The request is invalid:',
    ...details.map((one) => `  ${one.field}: ${one.message}`),
  ].join('\n');
}

function hintFor(error: MemoryServiceError): { hint?: string } {
  const { name, code, retryAfterMs, details } = error;
  if (details.some(({ field, message }) => field === 'data' && message === 'is required')) {
    return { hint: 'What the record says goes into data: { "userId": …, "data": { … } }' };
  }
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
  if (isPlain(baseUrl, error)) {
    return {
      message: `Cannot reach ${baseUrl} (no TLS on that port).`,
      hint: `If it is a plain one, use http:// instead: ${baseUrl.replace('https:', 'http:')}`,
      exitCode: exitCodes.unreachable,
    };
  }
  const local = /^https?:\/\/(127\.|localhost\b|\[::1\])/.test(baseUrl);
  return {
    message: `Cannot reach ${baseUrl} (${whyUnreachable(error)}).`,
    hint: local
      ? 'Is the server running? Try: memory serve'
      : 'Check the address: memory profile show',
    exitCode: exitCodes.unreachable,
  };
}

function isPlain(baseUrl: string, error: MemoryServiceError): boolean {
  return baseUrl.startsWith('https:') && /EPROTO|WRONG_VERSION/.test(causeCode(error));
}

function causeCode({ cause }: MemoryServiceError): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}

function whyUnreachable(error: MemoryServiceError): string {
  if (error.name === 'TimeoutError') return 'no answer in time';
  const code = causeCode(error);
  if (/refused/i.test(code)) return 'connection refused';
  if (/notfound|dns/i.test(code)) return 'no such host';
  return error.message;
}
