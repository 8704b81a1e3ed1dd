import type { ErrorBody, ErrorCode } from '../../sdk/contract/errors.ts';

/*
 * Errors of /mcp that occur before a tool runs. MCP clients show the message of a JSON-RPC error,
 * but only the status of a response with any other body.
 */

type MessageId = string | number | null;

/** The ids of the messages that have been read. Null if a message has no valid id. */
const messageIds = new WeakMap<Request, MessageId>();

/** Notes the id of a request's message. An error response must contain it. */
export function noteMessage(request: Request, message: unknown): void {
  const isObject = typeof message === 'object' && message !== null;
  const id: unknown = isObject && 'id' in message ? message.id : null;
  messageIds.set(request, typeof id === 'string' || typeof id === 'number' ? id : null);
}

/** Applies to unknown paths below /mcp, too. */
export function isMcp({ url }: Request): boolean {
  return /^\/mcp(\/|$)/.test(URL.parse(url)?.pathname ?? '');
}

/** Returns the body of an error response as a JSON-RPC error. */
export function rpcError(request: Request, { error, message, requestId }: ErrorBody) {
  const id = messageIds.get(request);
  const code = error === 'invalid_request' && id === undefined ? parseError : codes[error];
  const data = { error, requestId };
  return { jsonrpc: '2.0', id: id ?? null, error: { code: code ?? serverError, message, data } };
}

/** The codes that JSON-RPC defines. */
const parseError = -32_700;
const codes: Partial<Record<ErrorCode, number>> = { invalid_request: -32_600, internal: -32_603 };
const serverError = -32_000;
