import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Answer, readAnswer } from './http.ts';
import type { TestServer } from './server.ts';

/** Whether this machine can listen on ::1. */
export const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1');

type Part = string | Uint8Array;

/** Opens a connection, whose errors are ignored. */
export function dial({ url }: Pick<TestServer, 'url'>): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port) }).on('error', () => {});
}

/**
 * Sends all parts on a new connection. Returns the response, or null if the connection closed
 * before the response was complete. HEAD is not supported, because its response has a
 * Content-Length but no body.
 */
export async function exchange(server: TestServer, ...parts: Part[]): Promise<Answer | null> {
  const response = parseResponse(await converse(server, Buffer.concat(parts.map(bytesOf))));
  return response === null ? null : readAnswer(response);
}

/** Returns the request line and headers, with the server's key. `lines` are additional headers. */
export function head(server: TestServer, method: string, path: string, ...lines: string[]): string {
  const usual = [`Host: ${new URL(server.url).host}`, `Authorization: Bearer ${server.key}`];
  return `${[`${method} ${path} HTTP/1.1`, ...usual, ...lines].join('\r\n')}\r\n\r\n`;
}

export function chunked(body: Part, size = 10_000): Uint8Array {
  const bytes = bytesOf(body);
  const parts: Part[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = bytes.subarray(at, at + size);
    parts.push(`${chunk.length.toString(16)}\r\n`, chunk, '\r\n');
  }
  return Buffer.concat([...parts, '0\r\n\r\n'].map(bytesOf));
}

function bytesOf(part: Part): Uint8Array {
  return typeof part === 'string' ? Buffer.from(part) : part;
}

/** Returns the received text when the response is complete or the connection has closed. */
function converse(server: TestServer, request: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    let written = false;
    const socket = dial(server);
    function settle(): void {
      socket.destroy();
      resolve(received);
    }
    function settleWhenWhole(): void {
      if (written && parseResponse(received) !== null) settle();
    }
    socket.setEncoding('latin1');
    socket.on('connect', () => {
      socket.write(request, () => {
        written = true;
        settleWhenWhole();
      });
    });
    socket.on('data', (text) => {
      received += text;
      settleWhenWhole();
    });
    socket.on('error', settle);
    socket.on('close', settle);
  });
}

/** Parses a response. Returns null if its headers or its body are incomplete. */
function parseResponse(received: string): Response | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [first = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const body = Buffer.from(received.slice(end + 4), 'latin1');
  const length = Number(headers.get('content-length') ?? 0);
  if (body.length < length) return null;
  const status = Number(first.split(' ')[1]);
  return new Response(length === 0 ? null : body.subarray(0, length), { status, headers });
}
