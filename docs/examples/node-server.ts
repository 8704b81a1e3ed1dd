import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { handleMemories } from './web-handler.ts';

/* Serves the web handler with plain Node. With Express: app.use('/memories', onNode(handle…)). */

type Handler = (request: Request) => Promise<Response>;

/** Converts a web-standard handler to a listener for node:http. */
export function onNode(handler: Handler) {
  return async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    try {
      const response = await handler(requestOf(incoming, outgoing));
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(Buffer.from(await response.arrayBuffer()));
    } catch (error) {
      console.error(error);
      if (!outgoing.headersSent) outgoing.writeHead(500);
      outgoing.end();
    }
  };
}

function requestOf(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const { method = 'GET', url = '/', headers } = incoming;
  const left = new AbortController();
  outgoing.once('close', () => left.abort());
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const bare = method === 'GET' || method === 'HEAD';
  const init = { method, headers: pairs, signal: left.signal };
  // Node requires `duplex` for a streamed body.
  const withBody = { ...init, body: bodyOf(incoming), duplex: 'half' as const };
  return new Request(`http://${headers.host}${url}`, bare ? init : withBody);
}

/** Casts the stream, because Node and the web standard declare different types for it. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  return Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
}

const server = createServer(onNode(handleMemories));
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  console.log(`http://127.0.0.1:${port}`);
});
