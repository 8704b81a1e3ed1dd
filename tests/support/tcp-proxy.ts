import type { Socket } from 'bun';

/* A proxy that injects faults between the service and PostgreSQL. */

type Address = { hostname: string; port: number };

type Ends = {
  other: Socket<Ends> | null;
  waiting: Buffer[];
  isDeaf: boolean;
  /** The name of the prepared statement COMMIT, once it is known. */
  commit: string;
};

/** `sent` is called with a client's data before the proxy forwards the data. */
function startTcpProxy(first: Address, sent: (client: object, bytes: Buffer) => void = () => {}) {
  let to = first;
  const clients = new Set<Socket<Ends>>();
  let isSilent = false;
  let lost: string | null = null;
  let committed: { text: string; client: unknown } | null = null;
  let silenced: string | null = null;

  function passOn(client: Socket<Ends>, bytes: Buffer): void {
    if (isSilent) return;
    sent(client, bytes);
    const commits = isCommit(client, bytes);
    if (lost !== null && bytes.includes(lost)) {
      lost = null;
      loseAnswer(client);
    }
    if (committed !== null && bytes.includes(committed.text)) committed.client = client;
    else if (committed?.client === client && commits) {
      committed = null;
      loseAnswer(client);
    }
    if (silenced !== null && bytes.includes(silenced)) {
      silenced = null;
      client.data.isDeaf = true;
    }
    if (client.data.other === null) client.data.waiting.push(bytes);
    else client.data.other.write(bytes);
  }

  /** COMMIT is sent by the name of the prepared statement, which the client has told before. */
  function isCommit(client: Socket<Ends>, bytes: Buffer): boolean {
    const end = bytes.indexOf('\0COMMIT\0');
    if (end < 0) return client.data.commit !== '' && bytes.includes(`\0${client.data.commit}\0`);
    // A message begins with its type and its length in four bytes; then follows the name.
    const begin = bytes.lastIndexOf('\0', end - 1) + 2;
    client.data.commit = bytes.toString('latin1', begin, end);
    return false;
  }

  /** The server still executes the statement, but the client receives no response. */
  function loseAnswer(client: Socket<Ends>): void {
    client.data.isDeaf = true;
    setTimeout(() => client.terminate(), 300);
  }

  async function connectServer(client: Socket<Ends>): Promise<void> {
    const server = await Bun.connect<Ends>({
      ...to,
      data: { other: client, waiting: [], isDeaf: false, commit: '' },
      socket: {
        data(_, bytes) {
          if (!isSilent && !client.data.isDeaf) client.write(bytes);
        },
        close() {
          client.end();
        },
      },
    });
    client.data.other = server;
    for (const bytes of client.data.waiting) server.write(bytes);
  }

  const listen = (at: number) =>
    Bun.listen<Ends>({
      hostname: '127.0.0.1',
      port: at,
      socket: {
        open(client) {
          client.data = { other: null, waiting: [], isDeaf: false, commit: '' };
          clients.add(client);
          connectServer(client).catch(() => client.terminate());
        },
        data: passOn,
        close(client) {
          clients.delete(client);
          client.data.other?.end();
        },
      },
    });
  let listener: ReturnType<typeof listen> | null = listen(0);
  const { port } = listener;

  function endAll(): void {
    for (const client of clients) client.terminate();
  }

  return {
    port,
    /** Drops all data in both directions. */
    silence() {
      isSilent = true;
    },
    /** Closes all connections and the port, so that new connections are refused. */
    refuse() {
      listener?.stop(true);
      listener = null;
      endAll();
    },
    /** Ends silence() and refuse(), and closes all connections. */
    heal() {
      isSilent = false;
      endAll();
      listener ??= listen(port);
    },
    /** Forwards the next statement with this text, drops the response and closes the connection. */
    loseAnswerTo(text: string) {
      lost = text;
    },
    /**
     * Forwards the next statements with this text and their responses. Drops the response to the
     * COMMIT that follows on the same connection, and closes the connection.
     */
    loseCommitAfter(text: string) {
      committed = { text, client: null };
    },
    /** Forwards the next statement with this text and drops all responses on its connection. */
    silenceAt(text: string) {
      silenced = text;
    },
    /** Closes all connections and forwards new ones to another server. */
    moveTo(address: Address) {
      to = address;
      endAll();
    },
    stop() {
      listener?.stop(true);
      endAll();
    },
    [Symbol.dispose]() {
      this.stop();
    },
  };
}

/** Starts a proxy to the database server. Clients connect to `url`. */
export function proxyTo(databaseUrl: string, sent?: (client: object, bytes: Buffer) => void) {
  const url = new URL(databaseUrl);
  const proxy = startTcpProxy({ hostname: url.hostname, port: Number(url.port) }, sent);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { ...proxy, url: url.href };
}
