import type { MemoryServiceError, Replayable } from '../../sdk/index.ts';
import { type AnyCommand, helpFor, pathBelowRoot } from '../commander.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { capitalized } from '../terminal/text.ts';
import { resolveApiKey, resolveBaseUrl, unreachable } from './connect.ts';
import { shownProfilePath } from './profile.ts';

const exitCodeOf: Record<string, number> = {
  unauthorized: exitCodes.refused,
  forbidden: exitCodes.refused,
  not_found: exitCodes.notFound,
  connection: exitCodes.unreachable,
};

const serverLog = 'Try again later, and check the server log.';

/** What to do next, where the message of the service or of the SDK does not say it. */
const hintOf: Record<string, string> = {
  unauthorized: 'To create a key on the machine of the server: memory keys create --save',
  forbidden: "To show the key's permissions: memory whoami",
  not_found: 'To list ids: memory list --user <id>',
  payload_too_large: 'Split the text, or raise MEMORY_MAX_BODY_BYTES on the server.',
  internal: serverLog,
  unavailable: serverLog,
  unexpected_answer: 'Is this the address of the service? To check it: memory profile show',
  connection: 'Is the server running? Try: memory serve, or check the address: memory profile show',
};

/** Describes an error from the service. An invalid request gets a hint for the called command. */
export function serviceFailure(
  term: Terminal,
  error: MemoryServiceError,
  called?: AnyCommand,
): CliError {
  const { value: baseUrl } = resolveBaseUrl(term);
  const code = kindOf(error);
  const help = called && code === 'invalid_request' ? helpFor(called) : null;
  const hint = hintFor(error, called) ?? hintOf[code] ?? help;
  const text = textOf(term, error, baseUrl);
  const failure = new CliError(error.code, text, hint, exitCodeOf[code]);
  failure.requestId = error.requestId ?? null;
  if (error.details.length > 0) failure.details = error.details;
  return failure;
}

/** Returns the error's code, or a more fitting one: a proxy may have rejected the key, too. */
function kindOf({ code, name, message }: MemoryServiceError): string {
  if (name === 'AuthenticationError') return 'unauthorized';
  if (code === 'timeout') return 'connection';
  return message.startsWith('no such route') ? 'unexpected_answer' : code;
}

function hintFor({ message, details }: MemoryServiceError, called?: AnyCommand) {
  const has = (name: string, text: RegExp) =>
    details.some((one) => one.field === name && text.test(one.message));
  // A document may be longer than a memory, and so may its request: more than 1 MiB.
  if (/at most 1048576 bytes/.test(message) || has('content', /at most/)) {
    return 'To store a long text: memory ingest document --user <id> <file>';
  }
  if (!has('userId', /is required/)) return undefined;
  const path = called && pathBelowRoot(called);
  // The other commands that read records take no --user.
  if (path === 'ingest chat') return 'Specify the user: --user <id>, or userId in the file.';
  const isOfRecords = /^ingest (?!document)/.test(path ?? '');
  return `Specify the user: ${isOfRecords ? 'userId in the file' : '--user <id>'}.`;
}

function textOf(term: Terminal, error: MemoryServiceError, baseUrl: string): string {
  const { status, code, name, details } = error;
  const message = messageOf(error);
  if (name === 'AuthenticationError') {
    const reason = status === undefined ? 'it must contain only visible ASCII characters' : message;
    return `The API key in ${keySource(term, baseUrl)} was rejected: ${reason}.`;
  }
  if (code === 'connection' || code === 'timeout') return `${unreachable(baseUrl, error)}.`;
  if (code === 'unexpected_answer') {
    return `The server at ${baseUrl} did not respond like the memory service: ${message}.`;
  }
  // Several details are printed below the message. A single one begins with the name of a field.
  if (details.length > 1) return 'The request is invalid:';
  return `${details.length === 1 ? message : capitalized(message)}.`;
}

/** The service does not know where the key came from. */
function keySource(term: Terminal, baseUrl: string): string {
  const from = resolveApiKey(term, baseUrl)?.from;
  if (from === 'profile') return shownProfilePath(term);
  return from === 'environment' ? 'MEMORY_API_KEY' : '--api-key';
}

/** Returns the message, or a description if a proxy or the HTTP parser rejected the request. */
export function messageOf({ status, code, message }: MemoryServiceError): string {
  if (code !== 'unexpected_answer') return message;
  if (status === 414 || status === 431) return 'the id or query is longer than the service accepts';
  if (status === 413) return 'the request is larger than the service accepts';
  return message.replace(/^not a response from the memory service: /, '');
}

/**
 * A request with a repeated idempotency key returns the original response, even if the memory has
 * since been deleted. The command must not report a memory that no longer exists.
 */
export function rejectDeletedReplay({ deleted }: Replayable<object>, id: string): void {
  if (!deleted) return;
  const earlier = 'an earlier request with this idempotency key';
  const message = `Nothing was stored: ${earlier} stored ${id}, which has since been deleted.`;
  const hint = 'To store it again, pass another --idempotency-key.';
  throw new CliError('deleted_since', message, hint);
}
