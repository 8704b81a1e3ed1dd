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

/** What was received on a connection, and why the read ended. */
export type RawReply = {
  /** Null if no complete response was received. */
  response: Response | null;
  ended: 'whole' | 'closed' | 'quiet' | 'waiting';
};

/** How long to wait for more data after a part of a response. */
const quietMs = 250;

/**
 * Sends bytes unmodified, with a pause after each part. Then reads until the response is complete
 * (`whole`), the connection closes, no more of a response arrives (`quiet`), or for `withinMs`
 * (`waiting`). The response to HEAD ends as `quiet`, because its length is that of a body.
 */
export function sendRaw(
  server: Pick<TestServer, 'url'>,
  parts: Part[],
  { withinMs = 5_000, pauseMs = 0 } = {},
): Promise<RawReply> {
  return new Promise((resolve) => {
    let received = '';
    let isWritten = false;
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const socket = dial(server).setEncoding('latin1');
    const deadline = setTimeout(() => finish('waiting'), withinMs);
    function finish(ended: RawReply['ended']): void {
      clearTimeout(deadline);
      clearTimeout(quiet);
      socket.destroy();
      resolve({ response: parseResponse(received), ended });
    }
    function look(): void {
      clearTimeout(quiet);
      if (!isWritten || received === '') return;
      if (parseResponse(received) !== null) finish('whole');
      else quiet = setTimeout(() => finish('quiet'), quietMs);
    }
    socket.on('data', (text) => {
      received += text;
      look();
    });
    socket.on('close', () => finish('closed'));
    socket.on('connect', async () => {
      for (const part of parts) {
        await new Promise((written) => socket.write(part, written));
        if (pauseMs > 0) await Bun.sleep(pauseMs);
      }
      isWritten = true;
      look();
    });
  });
}

/** Sends all parts at once. Returns the response, or null if the connection closed without one. */
export async function exchange(server: TestServer, ...parts: Part[]): Promise<Answer | null> {
  const all = Buffer.concat(parts.map(bytesOf));
  const { response } = await sendRaw(server, [all], { withinMs: 100_000 });
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

/** Parses a response. Returns null if its headers or its body are incomplete. */
function parseResponse(text: string): Response | null {
  // Before it, the server may ask for the body.
  const received = text.replace(/^HTTP\/1\.1 1\d\d .*?\r\n\r\n/s, '');
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
