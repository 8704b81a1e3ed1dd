import { Elysia } from 'elysia';
import type { ErrorBody, ErrorCode } from '../../sdk/contract/errors.ts';
import * as headerNames from '../../sdk/contract/headers.ts';
import { limits } from '../../sdk/contract/limits.ts';
import { holdsInexact, inexactNumber } from '../../sdk/contract/numbers.ts';
import { badRequest, ServiceError } from '../errors.ts';
import { yieldToEventLoop } from '../threads/event-loop.ts';
import type { Auth } from './auth.ts';
import { type Caller, withBoundUser } from './authenticate.ts';
import { rejectForeignHosts } from './hosts.ts';
import type { ResponseHead } from './response.ts';
import type { RouteServices } from './services.ts';

/**
 * The MCP endpoints: /mcp serves the user that the key is bound to, and /mcp/users/<userId> serves
 * any user of the project. There are no sessions.
 */
export function mcp({ reading: auth }: Auth, services: RouteServices) {
  const { bodies, config, waitLonger } = services;

  async function answer(
    request: Request,
    set: ResponseHead,
    caller: Caller,
    userOf: () => string,
  ): Promise<Response> {
    rejectForeignHosts(request, config);
    if (request.method !== 'POST') {
      const message = 'send MCP messages with POST; this endpoint has no sessions and no streams';
      throw new ServiceError('method_not_allowed', message, { allow: 'POST' });
    }
    const body = await bodies.readJson(request, caller.projectId, limits.saveBodyBytes);
    // Free this body's share of the queue, because the tool's own requests wait in the same queue.
    bodies.release(request);
    noteMessage(request, body);
    if (Array.isArray(body)) {
      throw badRequest('', 'JSON-RPC batches are not supported; send each message in its own POST');
    }
    if (holdsInexact(body)) throw badRequest('', `the message ${inexactNumber}`);
    // A large message is parsed and sent on in different turns of the event loop.
    await yieldToEventLoop();
    const userId = userOf();
    waitLonger(request);
    const requestId = String(set.headers[headerNames.requestId]);
    const { headers, signal } = request;
    const message = { headers, json: JSON.stringify(body), requestId, signal };
    const response = await services.mcp.handle(message, caller, userId);
    set.status = response.status;
    return response;
  }

  return new Elysia()
    .use(auth)
    .all('/mcp', ({ request, set, caller }) =>
      answer(request, set, caller, () => boundUserOf(caller)),
    )
    .all('/mcp/users/:userId', ({ request, set, caller }) =>
      answer(request, set, caller, () => userIn(request, caller)),
    );
}

function boundUserOf({ userId }: Caller): string {
  if (userId !== null) return userId;
  throw badRequest('', 'this API key is not bound to a user; connect to /mcp/users/<userId>');
}

/** Decodes the user id here, because the router leaves invalid percent-encoding unchanged. */
function userIn({ url }: Request, caller: Caller): string {
  let userId: string;
  try {
    userId = decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '');
  } catch {
    throw badRequest('userId', 'is not valid percent-encoded UTF-8');
  }
  withBoundUser({ userId }, caller);
  return userId;
}

/*
 * Errors of /mcp that occur before a tool runs. MCP clients show the message of a JSON-RPC error,
 * but only the status of a response with any other body.
 */

type MessageId = string | number | null;

/** The ids of the messages that have been read. Null if a message has no valid id. */
const messageIds = new WeakMap<Request, MessageId>();

/** Notes the id of a request's message. An error response must contain it. */
function noteMessage(request: Request, message: unknown): void {
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
