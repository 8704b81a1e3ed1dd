import type { MemoryServiceError } from '../../sdk/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { resolveApiKey, resolveBaseUrl } from './connect.ts';
import { exitCodes, type Failure } from './errors.ts';
import { shownProfilePath } from './profile.ts';

type Context = { baseUrl?: string; apiKey?: string; project?: string };

/** An error of the SDK in the words of the command line. */
export async function serviceFailure(
  term: Terminal,
  error: MemoryServiceError,
  context: Context,
): Promise<Failure> {
  const { code, requestId = null, details } = error;
  const words = await inOurWords(term, error, context);
  const { message, hint = null, exitCode = exitCodes.failed } = words;
  return { code, message, hint, requestId, exitCode, ...(details.length > 0 && { details }) };
}

type Words = { message: string; hint?: string; exitCode?: number };

async function inOurWords(
  term: Terminal,
  error: MemoryServiceError,
  context: Context,
): Promise<Words> {
  if (isBefore(error)) return answeredBefore(error);
  if (isStranger(error)) return stranger((await resolveBaseUrl(term, context)).value, error);
  switch (error.name) {
    case 'ConnectionError':
    case 'TimeoutError':
      return unreachable((await resolveBaseUrl(term, context)).value, error);
    case 'AuthenticationError':
      return refused(term, error, context);
    case 'NotFoundError':
      return notFound((await resolveBaseUrl(term, context)).value, error);
    case 'WaitTimeoutError':
      return stillProcessing(error);
    default:
      return { message: problemOf(error), ...hintFor(error) };
  }
}

/** The 404 of another program may have a code of its own. */
function isStranger({ status = 0, code }: MemoryServiceError): boolean {
  if (status === 404) return code !== 'not_found';
  return code === 'unexpected_answer' && (status < 400 || status >= 500);
}

/** What only something between us and the service says in these words, or without any. */
function isBefore({ status = 0, code }: MemoryServiceError): boolean {
  return code === 'unexpected_answer' && [429, 502, 503, 504].includes(status);
}

function answeredBefore(error: MemoryServiceError): Words {
  const { retryAfterMs } = error;
  const when = retryAfterMs === undefined ? 'a while' : `${Math.ceil(retryAfterMs / 1000)} s`;
  return {
    message: `Something before the service answered for it: ${foundIn(error)}.`,
    hint: `Try again in ${when}.`,
  };
}

function stranger(baseUrl: string, error: MemoryServiceError): Words {
  return {
    message: `What answered is not the memory service: ${foundIn(error)}.`,
    hint: withoutV1(baseUrl) ?? `Is the base URL right? ${baseUrl}`,
  };
}

function foundIn({ message, status }: MemoryServiceError): string {
  const [, found = `${status}, ${message}`] = /^not an answer of [^:]*: (.*)$/.exec(message) ?? [];
  return found;
}

/** What the service says of headers helps nobody here; which key it was does. */
async function refused(
  term: Terminal,
  error: MemoryServiceError,
  context: Context,
): Promise<Words> {
  const { value: baseUrl } = await resolveBaseUrl(term, context);
  const key = await resolveApiKey(term, context, baseUrl);
  const place = {
    flag: '--api-key',
    environment: 'MEMORY_API_KEY',
    profile: shownProfilePath(term),
    default: 'use',
  }[key?.from ?? 'default'];
  const exitCode = exitCodes.refused;
  const hint =
    withoutV1(baseUrl) ??
    'Where the server runs: memory keys list, or a new one: memory keys create --save';
  if (error.status === undefined) {
    const message = `The API key in ${place} cannot be sent: it must be visible ASCII.`;
    return { message, hint, exitCode };
  }
  const which = `the key in ${place}`;
  const why =
    error.status === 401 ? `${which} is unknown, expired or revoked` : `${which}: ${error.message}`;
  return { message: `The API key was refused: ${why}.`, hint, exitCode };
}

function notFound(baseUrl: string, { message }: MemoryServiceError): Words {
  const exitCode = exitCodes.notFound;
  const told = { message: `Not found: ${message}.`, exitCode };
  const isRoute = message.startsWith('there is no such route');
  if (!isRoute) return { ...told, hint: 'Ids are listed by: memory list --user <id>' };
  return { ...told, hint: withoutV1(baseUrl) ?? `Is the base URL right? ${baseUrl}` };
}

/** Below /v1 every path asks for a key, also those that have none, as /v1/health. */
function withoutV1(baseUrl: string): string | undefined {
  if (!baseUrl.endsWith('/v1')) return undefined;
  return `Leave /v1 out of the base URL: ${baseUrl.slice(0, -'/v1'.length)}`;
}

/** What is refused before the service itself has seen it, is refused without words. */
export function messageOf({ status, code, message }: MemoryServiceError): string {
  if (code !== 'unexpected_answer') return message;
  if (status === 413) return 'the request is larger than the service reads';
  const isAddress = status === 414 || status === 431;
  return isAddress ? 'the id or query is longer than the service reads' : message;
}

/** Several invalid fields are easier to read one a line than in one sentence. */
function problemOf(error: MemoryServiceError): string {
  const { details } = error;
  if (details.length < 2) return messageOf(error);
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
