import { Readable, Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer } from './server.ts';
import type { Session } from './session.ts';

export type Streams = {
  input: ReadableStream<Uint8Array>;
  write(data: Uint8Array): Promise<void>;
  /** Ends the connection when aborted. */
  signal: AbortSignal;
};

export async function serveOverStdio(session: Session, streams: Streams): Promise<void> {
  const { onError } = session;
  const input = Readable.fromWeb(streams.input as Parameters<typeof Readable.fromWeb>[0]);
  const output = new Writable({
    write(chunk, _, done) {
      streams.write(chunk).then(() => done(), done);
    },
  });
  const transport = new StdioServerTransport(input, output);
  const server = serveStdio(() => createMcpServer(session), { transport, onerror: onError });
  const closed = new Promise<void>((resolve) => input.once('close', resolve));
  const stop = () => input.destroy();
  streams.signal.addEventListener('abort', stop, { once: true });
  if (streams.signal.aborted) stop();
  await closed;
  streams.signal.removeEventListener('abort', stop);
  await server.close();
}
