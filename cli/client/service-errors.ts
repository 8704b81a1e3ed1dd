import type { MemoryServiceError, Replayable } from '../../sdk/index.ts';
import type { GlobalOptions } from '../commander.ts';
import { CliError, errorCode, exitCodes } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { resolveApiKey, resolveBaseUrl } from './connect.ts';
import { shownProfilePath } from './profile.ts';

/** Describes an error from the service. `command` is the name of the command that failed. */
export function serviceFailure(
  term: Terminal,
  error: MemoryServiceError,
  options: GlobalOptions,
  command?: string,
): CliError {
  const { value: baseUrl } = resolveBaseUrl(term, options);
  const failure = isKeyRefused(error)
    ? keyRefused(term, error, baseUrl, options)
    : failureOf(error, baseUrl, command);
  failure.requestId = error.requestId ?? null;
  if (error.details.length > 0) failure.details = error.details;
  return failure;
}

/** Returns the message, or a description if a proxy or the HTTP parser rejected the request. */
export function messageOf({ status, code, message }: MemoryServiceError): string {
  if (code !== 'unexpected_answer') return message;
  if (status === 413) return 'the request is larger than the service accepts';
  const isAddress = status === 414 || status === 431;
  return isAddress ? 'the id or query is longer than the service accepts' : message;
}

function isKeyRefused({ name, code, status = 0 }: MemoryServiceError): boolean {
  if (code === 'unexpected_answer' && isProxy(status)) return false;
  // A proxy may reject a key with 403, but with a different error code.
  return name === 'AuthenticationError' || (name === 'PermissionError' && code !== 'forbidden');
}

function failureOf(error: MemoryServiceError, baseUrl: string, command?: string): CliError {
  const { status = 0, code, message } = error;
  const failure = (text: string, hint?: string, exitCode?: number) =>
    new CliError(code, text, hint, exitCode);
  const isForeign = code === 'unexpected_answer';
  if (isForeign && isProxy(status)) {
    const hint = `Try again in ${retryTime(error) ?? 'a while'}.`;
    return failure(`A proxy in front of the service returned: ${foundIn(error)}.`, hint);
  }
  // A 404 from another program may have a different error code.
  const isOther =
    status === 404 ? code !== 'not_found' : isForeign && (status < 400 || status >= 500);
  if (isOther) {
    const text = `The server at this address is not the memory service: ${foundIn(error)}.`;
    return failure(text, `Check the base URL: ${baseUrl}`);
  }
  switch (error.name) {
    case 'ConnectionError':
    case 'TimeoutError':
      return unreachable(error, baseUrl);
    case 'NotFoundError': {
      const isRoute = message.startsWith('no such route');
      const hint = isRoute
        ? `Check the base URL: ${baseUrl}`
        : 'To list ids: memory list --user <id>';
      return failure(`Not found: ${message}.`, hint, exitCodes.notFound);
    }
    case 'PermissionError': {
      const hint = "To show the key's permissions: memory whoami";
      return failure(`Not allowed: ${message}.`, hint, exitCodes.refused);
    }
    case 'PreconditionFailedError': {
      const hint = 'To show the current version: memory get <id>';
      return failure(`Nothing was changed: ${message}.`, hint);
    }
    case 'WaitTimeoutError': {
      const id = 'memoryId' in error ? String(error.memoryId) : '<id>';
      const text = `${id} is still processing. Nothing is lost; the service continues.`;
      return failure(text, `Continue waiting: memory wait ${id}`, exitCodes.processing);
    }
    default:
      // Several details are printed below the message.
      return failure(
        error.details.length < 2 ? messageOf(error) : 'The request is invalid:',
        hintFor(error, command),
      );
  }
}

function hintFor(error: MemoryServiceError, command?: string): string | undefined {
  const { name, code, details } = error;
  const isMissing = (name: string) =>
    details.some(({ field, message }) => field === name && message === 'is required');
  if (isMissing('data')) {
    return 'Put the contents of the record into data: { "userId": …, "data": { … } }';
  }
  if (isMissing('userId')) {
    return 'Specify the user: --user <id>, or userId in a file. A key bound to a user needs none.';
  }
  if (code === 'idempotency_key_reused') return 'Omit --idempotency-key, or use a new one.';
  // The server's setting does not raise the limits for a save or an update.
  const isSave = command === 'save' || command === 'update';
  const isLong = details.some(
    ({ field, message }) => field === 'content' && /^must be at most .* characters/.test(message),
  );
  if (isSave && (isLong || name === 'PayloadTooLargeError')) {
    return 'To store a long text: memory ingest document --user <id> <file>';
  }
  if (name === 'PayloadTooLargeError') {
    return 'Split the input, or raise MEMORY_MAX_BODY_BYTES on the server.';
  }
  const time = retryTime(error);
  if (name === 'RateLimitError' && time !== undefined) return `Try again in ${time}.`;
  return name === 'ServerError' ? 'Try again later, and check the server log.' : undefined;
}

/** Whether a response that is not in the service's format is probably from a proxy. */
function isProxy(status: number): boolean {
  return [429, 502, 503, 504].includes(status);
}

function foundIn({ message, status }: MemoryServiceError): string {
  const [, found = `${status}, ${message}`] = /^not a response [^:]*: (.*)$/.exec(message) ?? [];
  return found;
}

function retryTime({ retryAfterMs }: MemoryServiceError): string | undefined {
  return retryAfterMs === undefined ? undefined : `${Math.ceil(retryAfterMs / 1000)} s`;
}

/** Names the source of the rejected key. The service does not know where the key came from. */
function keyRefused(
  term: Terminal,
  { status, code, message }: MemoryServiceError,
  baseUrl: string,
  options: GlobalOptions,
): CliError {
  const key = resolveApiKey(term, options, baseUrl);
  const profile = shownProfilePath(term);
  const places = { flag: '--api-key', environment: 'MEMORY_API_KEY', profile, default: 'use' };
  const place = places[key?.from ?? 'default'];
  const why = status === 401 ? ' is unknown, expired or revoked' : `: ${message}`;
  const text =
    status === undefined
      ? `The API key in ${place} cannot be sent: it must consist of visible ASCII characters.`
      : `The API key was rejected: the key in ${place}${why}.`;
  const hint = `To list the keys on the server's machine: memory keys list
To create a key there: memory keys create --save`;
  return new CliError(code, text, hint, exitCodes.refused);
}

function unreachable({ code, name, message, cause }: MemoryServiceError, url: string): CliError {
  const failure = (why: string, hint: string) =>
    new CliError(code, `Cannot reach ${url} (${why}).`, hint, exitCodes.unreachable);
  const reason = errorCode(cause);
  if (url.startsWith('https:') && /EPROTO|WRONG_VERSION/.test(reason)) {
    const plain = url.replace('https:', 'http:');
    return failure(
      'no TLS on that port',
      `If the server does not use TLS on this port, use http:// instead: ${plain}`,
    );
  }
  if (/SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(reason)) {
    return failure(
      'its certificate is not trusted',
      'To trust your own certificate or authority: NODE_EXTRA_CA_CERTS=<file.pem> memory …',
    );
  }
  const isLocal = /^https?:\/\/(127\.|localhost\b|\[::1\])/.test(url);
  const hint = isLocal
    ? 'Is the server running? Try: memory serve'
    : 'To check the address: memory profile show';
  if (name === 'TimeoutError') return failure('timed out', hint);
  if (/refused/i.test(reason)) return failure('connection refused', hint);
  return failure(/notfound|dns/i.test(reason) ? 'no such host' : message, hint);
}

/*
 * A request with a repeated idempotency key returns the original response, even if the memory has
 * since been deleted. The command must not report a memory that no longer exists.
 */

type Did = 'saved' | 'updated' | 'ingested';

export function rejectDeletedReplay({ deleted }: Replayable<object>, id: string, did: Did): void {
  if (!deleted) return;
  throw new CliError(
    'deleted_since',
    `Nothing was ${did}: an earlier request with this idempotency key ${did} ${id}, which has since been deleted.`,
    'To create a new memory, use another --idempotency-key, or omit it.',
  );
}
