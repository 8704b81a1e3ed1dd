import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createLineTransport } from './lines.ts';
import { createMcpServer } from './server.ts';
import type { Session } from './session.ts';

export type Streams = {
  input: ReadableStream<Uint8Array>;
  write(data: Uint8Array): Promise<void>;
  /** Ends the connection when aborted. */
  signal: AbortSignal;
};

/** Serves until the input has ended and every request has its response. */
export async function serveOverStdio(session: Session, streams: Streams): Promise<void> {
  const { input, write, signal } = streams;
  const { onError: onerror } = session;
  const { transport, receive, answered } = createLineTransport(write);
  // The tools never change, so there is nothing to subscribe to.
  const options = { transport, onerror, maxSubscriptions: 0 };
  const server = serveStdio(() => createMcpServer(session), options);
  const reader = input.getReader();
  const stopped = new Promise<void>((resolve) => {
    const stop = () => void reader.cancel().then(resolve);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  for await (const line of linesOf(reader)) {
    if (!signal.aborted) receive(line);
  }
  await Promise.race([answered(), stopped]);
  await server.close();
}

const newline = 10;

type Reader = { read(): Promise<{ value?: Uint8Array | undefined }> };

async function* linesOf(reader: Reader): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  for (;;) {
    const { value } = await reader.read();
    if (value === undefined) break;
    let begin = 0;
    for (let end = value.indexOf(newline); end !== -1; end = value.indexOf(newline, begin)) {
      yield Buffer.concat([...parts, value.subarray(begin, end)]);
      parts = [];
      begin = end + 1;
    }
    parts.push(value.subarray(begin));
  }
  yield Buffer.concat(parts);
}
