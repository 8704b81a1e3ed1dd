import { createMcpHandler } from '@modelcontextprotocol/server';
import * as headerNames from '../../sdk/contract/headers.ts';
import { MemoryClient } from '../../sdk/index.ts';
import { createChannel, portOf } from '../threads/channel.ts';
import { answerCalls, parent, startData, watched } from '../threads/serve.ts';
import type { InnerRequest, InnerResponse, McpRequest, McpResponse, McpStart } from './protocol.ts';
import { createMcpServer } from './tools/server.ts';
import type { ContentRange } from './tools/session.ts';

/**
 * The MCP thread handles the protocol and the tools. A tool calls the service with its caller's API
 * key. Large responses are parsed here, where they do not delay other requests.
 */

const { version, requests, log } = await startData<McpStart>();
const service = createChannel((message) => requests.postMessage(message));
portOf(requests).listen(service.receive);

/** A placeholder. The HTTP thread uses only the path and the query. */
const baseUrl = 'http://localhost';

async function fetchFromService(
  url: string,
  init: RequestInit = {},
  range: ContentRange | null,
): Promise<Response> {
  const { method = 'GET', headers, body } = init;
  const request: InnerRequest = {
    url,
    method,
    headers: [...new Headers(headers)],
    body: typeof body === 'string' ? body : null,
    range,
  };
  const response = (await service.call('fetch', request)) as InnerResponse;
  const { status, headers: received, texts } = response;
  const text = texts.join('');
  return new Response(text === '' ? null : text, { status, headers: received });
}

function clientOf({ headers, requestId }: McpRequest, range: ContentRange | null): MemoryClient {
  const authorization = new Headers(headers).get(headerNames.authorization) ?? '';
  return new MemoryClient({
    baseUrl,
    fetch: (url, init) => fetchFromService(url, init, range),
    headers: { [headerNames.authorization]: authorization, [headerNames.requestId]: requestId },
    // Errors are returned immediately, because retries could outlast the caller's connection.
    maxRetries: 0,
  });
}

async function handle(request: McpRequest): Promise<McpResponse> {
  const { headers, json, userId, readOnly } = request;
  const clientFor = (range: ContentRange) => clientOf(request, range);
  const client = clientOf(request, null);
  const onError = (error: unknown) => log.error('MCP tool failed', { error });
  const session = { client, clientFor, userId, readOnly, version, onError };
  const handler = createMcpHandler(() => createMcpServer(session), {
    // The tools never change, so there is nothing to subscribe to.
    maxSubscriptions: 0,
  });
  const init = { method: 'POST', headers };
  const options = { parsedBody: JSON.parse(json) };
  const response = await handler.fetch(new Request(`${baseUrl}/mcp`, init), options);
  const contentType = response.headers.get('content-type');
  return { status: response.status, contentType, text: await response.text() };
}

answerCalls(parent, (_, argument) => handle(argument as McpRequest));
watched(() => requests.close());
