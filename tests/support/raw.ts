import { connect, type Socket } from 'node:net';

/** The data received on a connection, and why the read ended. */
export type RawReply = {
  status: number | null;
  text: string;
  ended: 'closed' | 'quiet' | 'waiting';
};

/** How long to wait for more data after a complete or a partial response. */
const quietMs = { whole: 15, part: 250 };

/**
 * Sends bytes unmodified and reads until the connection closes, no more data arrives (`quiet`) or
 * `withinMs` have passed (`waiting`).
 */
export function sendRaw(
  url: string,
  parts: (string | Uint8Array)[],
  { withinMs = 5_000, pauseMs = 0 }: { withinMs?: number; pauseMs?: number } = {},
): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const deadline = setTimeout(() => finish('waiting'), withinMs);
    function finish(ended: RawReply['ended']): void {
      clearTimeout(deadline);
      clearTimeout(quiet);
      socket.destroy();
      const text = Buffer.concat(chunks).toString();
      const status = /^HTTP\/1\.\d (\d{3})/.exec(text)?.[1];
      resolve({ status: status === undefined ? null : Number(status), text, ended });
    }
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      clearTimeout(quiet);
      const ms = isWhole(Buffer.concat(chunks).toString('latin1')) ? quietMs.whole : quietMs.part;
      quiet = setTimeout(() => finish('quiet'), ms);
    });
    socket.on('close', () => finish('closed'));
    // A close event follows every error.
    socket.on('error', () => {});
    socket.on('connect', () => void writeAll(socket, parts, pauseMs));
  });
}

async function writeAll(socket: Socket, parts: (string | Uint8Array)[], pauseMs: number) {
  for (const part of parts) {
    if (socket.destroyed) return;
    socket.write(part);
    if (pauseMs > 0) await Bun.sleep(pauseMs);
  }
}

function isWhole(text: string): boolean {
  const begin = text.indexOf('\r\n\r\n');
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  return begin >= 0 && length !== undefined && text.length >= begin + 4 + Number(length);
}

/** The text after the headers of the first response. */
export function bodyOf({ text }: RawReply): string {
  const begin = text.indexOf('\r\n\r\n');
  return begin < 0 ? '' : text.slice(begin + 4);
}
