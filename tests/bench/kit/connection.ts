import type { Socket } from 'bun';

export type Response = { status: number; head: string };

/** A connection without pipelining. */
export type Connection = Disposable & {
  /** Resolves when the whole response has arrived. */
  send(request: Uint8Array): Promise<Response>;
};

type Pending = { resolve(response: Response): void; reject(error: Error): void };

/**
 * Writes bytes directly to a socket and finds the end of each response, because a client library
 * would use more CPU time than the service.
 */
export async function connect(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  let pending: Pending | null = null;
  /** The part of the request that the socket has not yet accepted. */
  let unsent: Uint8Array = new Uint8Array();
  let read = createReader();

  function write(bytes: Uint8Array): void {
    unsent = bytes.subarray(Math.max(0, socket.write(bytes)));
  }
  const fail = (error: Error) => pending?.reject(error);
  const socket: Socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, chunk) {
        const response = read(chunk);
        if (response === null) return;
        read = createReader();
        pending?.resolve(response);
      },
      drain: () => write(unsent),
      error: (_, error) => fail(error),
      close: () => fail(new Error('the server closed a connection')),
    },
  });
  return {
    send(request) {
      const { promise, ...settle } = Promise.withResolvers<Response>();
      pending = settle;
      write(request);
      return promise;
    },
    [Symbol.dispose]: () => void socket.end(),
  };
}

/** Returns a function that reads received bytes. It returns the response once it is complete. */
function createReader(): (bytes: Buffer) => Response | null {
  let begun: Buffer = Buffer.alloc(0);
  let head = '';
  let last = '';
  let missing = 0;
  return (bytes) => {
    let body = bytes;
    if (head === '') {
      begun = begun.length === 0 ? bytes : Buffer.concat([begun, bytes]);
      const end = begun.indexOf('\r\n\r\n');
      if (end < 0) return null;
      head = begun.toString('latin1', 0, end);
      missing = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
      body = begun.subarray(end + 4);
    }
    missing -= body.length;
    // Without a length, the body is chunked. As JSON, it contains no empty line before its end.
    if (Number.isNaN(missing)) last = (last + body.toString('latin1')).slice(-4);
    const isComplete = missing <= 0 || last === '\r\n\r\n';
    return isComplete ? { status: Number(head.slice(9, 12)), head } : null;
  };
}
