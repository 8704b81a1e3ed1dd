import type { MemoryServiceError, Replayable } from '../../sdk/index.ts';
import { CliError, errorCode, exitCodes } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { capitalized } from '../terminal/text.ts';
import { resolveApiKey, resolveBaseUrl } from './connect.ts';
import { shownProfilePath } from './profile.ts';

type Shown = { hint: string; exitCode?: number };

/** What to do next for each code of the service and of the SDK. */
const advice: Record<string, Shown> = {
  unauthorized: {
    hint: 'To create a key on the machine of the server: memory keys create --save',
    exitCode: exitCodes.refused,
  },
  forbidden: {
    hint: "To show the key's permissions: memory whoami",
    exitCode: exitCodes.refused,
  },
  not_found: { hint: 'To list ids: memory list --user <id>', exitCode: exitCodes.notFound },
  precondition_failed: { hint: 'To show the current version: memory get <id>' },
  payload_too_large: { hint: 'Split the text, or raise MEMORY_MAX_BODY_BYTES on the server.' },
  idempotency_key_reused: { hint: 'Omit --idempotency-key, or use a new one.' },
  rate_limited: { hint: 'Try again later.' },
  internal: { hint: 'Try again later, and check the server log.' },
  unavailable: { hint: 'Try again later, and check the server log.' },
  unexpected_answer: {
    hint: 'Is this the address of the service? To check it: memory profile show',
  },
  connection: {
    hint: 'Is the server running? Try: memory serve, or check the address: memory profile show',
    exitCode: exitCodes.unreachable,
  },
  timeout: {
    hint: 'Is the server running? To check the address: memory profile show',
    exitCode: exitCodes.unreachable,
  },
};

/** A document may be longer than a memory, and so may its request: more than 1 MiB. */
const longMemory: Shown = {
  hint: 'To store a long text: memory ingest document --user <id> <file>',
};

/** Describes an error from the service. `help` is the hint for an invalid request. */
export function serviceFailure(
  term: Terminal,
  error: MemoryServiceError,
  help: string | null = null,
): CliError {
  const { value: baseUrl } = resolveBaseUrl(term);
  const fallback = error.code === 'invalid_request' ? help : null;
  const { hint = fallback, exitCode } = adviceFor(error) ?? {};
  const failure = new CliError(error.code, textOf(term, error, baseUrl), hint, exitCode);
  failure.requestId = error.requestId ?? null;
  if (error.details.length > 0) failure.details = error.details;
  return failure;
}

function adviceFor(error: MemoryServiceError): Partial<Shown> | undefined {
  const { code, name, message, details } = error;
  const has = (name: string, text: RegExp) =>
    details.some((one) => one.field === name && text.test(one.message));
  if (/at most 1048576 bytes/.test(message) || has('content', /at most/)) return longMemory;
  if (has('userId', /is required/)) {
    return { hint: 'Specify the user: --user <id>, or userId in a file.' };
  }
  if (name === 'AuthenticationError') return advice.unauthorized;
  if (message.startsWith('no such route')) return advice.unexpected_answer;
  return advice[code];
}

function textOf(term: Terminal, error: MemoryServiceError, baseUrl: string): string {
  const { code, name, details, cause } = error;
  const message = messageOf(error);
  if (name === 'AuthenticationError') {
    return `The API key in ${keySource(term, baseUrl)} was rejected: ${message}.`;
  }
  if (code === 'connection' || code === 'timeout') {
    const isRefused = /refused/i.test(errorCode(cause));
    const reason = message
      .replace(/^no response from \S+: /, '')
      // Bun's advice is for the programmer.
      .replace(/\.? For more information, pass .*$/, '');
    return `Cannot reach ${baseUrl} (${isRefused ? 'connection refused' : reason}).`;
  }
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
  if (status === 413) return 'the request is larger than the service accepts';
  if (status === 414 || status === 431) return 'the id or query is longer than the service accepts';
  return message.replace(/^not a response from the memory service: /, '');
}

/**
 * A request with a repeated idempotency key returns the original response, even if the memory has
 * since been deleted. The command must not report a memory that no longer exists.
 */
export function rejectDeletedReplay({ deleted }: Replayable<object>, id: string): void {
  if (!deleted) return;
  throw new CliError(
    'deleted_since',
    `Nothing was stored: an earlier request with this idempotency key stored ${id}, which has since been deleted.`,
    'To create a new memory, use another --idempotency-key, or omit it.',
  );
}
