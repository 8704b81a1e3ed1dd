import { send, type TestServer } from '../support/server.ts';

/* Raw JSON-RPC messages to /mcp. */

export const accept = 'application/json, text/event-stream';
export const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

export function call(name: string, args: object) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
}

/** Returns a function that posts a message, by default to `serverNow()` with its own key. */
export function messagesTo(serverNow: () => TestServer) {
  return async (
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
    to = serverNow(),
  ) => {
    const response = await send(to, 'POST', path, { body, headers: { accept, ...headers } });
    const text = await response.text();
    // The body is JSON or an event stream with exactly one event.
    const json = JSON.parse(text.replace(/^event: message\ndata: /, ''));
    return { status: response.status, headers: response.headers, json };
  };
}
