import type { Socket } from 'bun';
import { exampleMemory } from '../../sdk/contract/memory.ts';

/*
 * A TCP server that plays a script of responses and faults, one per request. After the end of the
 * script, it repeats the last reply, so that tests can detect surplus requests.
 */

export type SeenRequest = { method: string; path: string; headers: Headers; body: string };
export type Reply = (socket: Socket<Received>) => void;
type Received = { text: string };

export function startFaultServer(...script: [Reply, ...Reply[]]) {
  const requests: SeenRequest[] = [];
  const answered = Promise.withResolvers<void>();
  let reply: Reply = script[0];
  const listener = Bun.listen<Received>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { text: '' };
      },
      data: (socket, bytes) => {
        socket.data.text += bytes.toString();
        const request = parse(socket.data.text);
        if (request === undefined) return;
        socket.data.text = '';
        reply = script[requests.length] ?? reply;
        requests.push(request);
        reply(socket);
        if (requests.length >= script.length) answered.resolve();
      },
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    requests,
    /** Resolves when the server has begun to send the last reply of the script. */
    answered: answered.promise,
    [Symbol.dispose]: () => listener.stop(true),
  };
}

/** Parses a request. Returns undefined if the text is incomplete. */
function parse(text: string): SeenRequest | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [requestLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const [method = '', path = ''] = requestLine.split(' ');
  const headers = new Headers(lines.map((line): [string, string] => splitOnce(line, ':')));
  const body = text.slice(end + 4);
  const length = Number(headers.get('Content-Length') ?? 0);
  return Buffer.byteLength(body) < length ? undefined : { method, path, headers, body };
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return [text.slice(0, index), text.slice(index + 1).trim()];
}

function head(status: number, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Scripted\r\nConnection: close\r\n${lines.join('')}\r\n`;
}

export function text(status: number, body: string, headers: Record<string, string> = {}): Reply {
  const length = status === 204 ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  return (socket) => {
    socket.end(head(status, { ...length, ...headers }) + body);
  };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  const usual = { 'Content-Type': 'application/json', 'X-Request-Id': 'req_1' };
  return text(status, JSON.stringify(body), { ...usual, ...headers });
}

/** An error response in the service's format. */
export function refusal(status: number, error: string, headers: Record<string, string> = {}) {
  return json(status, { error, message: `it is ${error}`, requestId: 'req_1' }, headers);
}

/** An HTML error page, like those of reverse proxies. */
export function html(status: number): Reply {
  return text(status, '<html><h1>Bad gateway</h1></html>', { 'Content-Type': 'text/html' });
}

/** Closes the connection without a response. */
export const dropped: Reply = (socket) => void socket.terminate();

/** Reads the request and never responds. */
export const silent: Reply = () => {};

const begun = `${head(200, { 'Content-Length': '100' })}{"id":`;
/** Sends the beginning of a response and keeps the connection open. */
export const stalled: Reply = (socket) => void socket.write(begun);
/** Sends the beginning of a response and closes the connection. */
export const cut: Reply = (socket) => void socket.end(begun);

/** Like `cut`, with chunked encoding instead of a Content-Length. */
export const cutInChunks: Reply = (socket) =>
  void socket.end(`${head(200, { 'Transfer-Encoding': 'chunked' })}6\r\n{"id":\r\n`);

export const aMemory = { ...exampleMemory, id: 'mem_1' };
