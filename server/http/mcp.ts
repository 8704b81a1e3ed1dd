import { Elysia } from 'elysia';
import { headers as headerNames } from '../../sdk/contract/headers.ts';
import { limits } from '../../sdk/contract/limits.ts';
import { ServiceError } from '../errors.ts';
import type { Auth } from './auth.ts';
import { type Caller, withBoundUser } from './authenticate.ts';
import { rejectForeignHosts } from './hosts.ts';
import { noteMessage } from './mcp-errors.ts';
import { badRequest } from './parse.ts';
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
    const userId = userOf();
    waitLonger(request);
    const requestId = String(set.headers[headerNames.requestId]);
    const { headers, signal } = request;
    const message = { headers, body, requestId, signal };
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
