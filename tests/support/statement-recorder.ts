import { proxyTo } from './tcp-proxy.ts';

/* Records the statements that a program sends to PostgreSQL, by parsing the wire protocol. */

export type SentStatement = { text: string; values: (string | null)[] };

/** The state of a connection: its prepared statements, and the bytes of an incomplete message. */
type Reading = { isStarted: boolean; rest: Buffer; prepared: Map<string, string> };

const sslRequest = 80_877_103;

/**
 * Starts a proxy that records the statements of its clients, with their values, in order. Clients
 * connect to `url`.
 */
export function recordStatements(databaseUrl: string) {
  const readings = new Map<object, Reading>();
  let sent: SentStatement[] = [];
  const proxy = proxyTo(databaseUrl, (client, bytes) => {
    const reading = readings.get(client) ?? {
      isStarted: false,
      rest: Buffer.alloc(0),
      prepared: new Map(),
    };
    readings.set(client, reading);
    reading.rest = Buffer.concat([reading.rest, bytes]);
    for (const message of messages(reading)) {
      const statement = statementIn(message, reading.prepared);
      if (statement !== null) sent.push(statement);
    }
  });
  return {
    url: proxy.url,
    stop: proxy.stop,
    drain(): SentStatement[] {
      const drained = sent;
      sent = [];
      return drained;
    },
    /** The largest number of statements that one connection has prepared. */
    prepared: () => Math.max(...readings.values().map(({ prepared }) => prepared.size)),
  };
}

type Message = { type: string; body: Buffer };

/** Yields the complete messages. Messages before the session starts have no type byte. */
function* messages(reading: Reading): Generator<Message> {
  for (;;) {
    const { rest, isStarted } = reading;
    const head = isStarted ? 1 : 0;
    if (rest.length < head + 4) return;
    const end = head + rest.readInt32BE(head);
    if (rest.length < end) return;
    const body = rest.subarray(head + 4, end);
    reading.rest = rest.subarray(end);
    if (isStarted) yield { type: String.fromCharCode(rest[0] ?? 0), body };
    else reading.isStarted = body.readInt32BE(0) !== sslRequest;
  }
}

/** Returns the statement of a Query or Bind message. Stores the statement of a Parse message. */
function statementIn({ type, body }: Message, prepared: Map<string, string>): SentStatement | null {
  const reader = createReader(body);
  if (type === 'Q') return { text: reader.text(), values: [] };
  if (type === 'P') prepared.set(reader.text(), reader.text());
  if (type !== 'B') return null;
  reader.text();
  const text = prepared.get(reader.text()) ?? '';
  reader.advance(2 * reader.int16());
  return { text, values: Array.from({ length: reader.int16() }, () => reader.value()) };
}

function createReader(body: Buffer) {
  let at = 0;
  return {
    text(): string {
      const end = body.indexOf(0, at);
      const text = body.toString('utf8', at, end);
      at = end + 1;
      return text;
    },
    int16(): number {
      at += 2;
      return body.readInt16BE(at - 2);
    },
    value(): string | null {
      const length = body.readInt32BE(at);
      at += 4 + Math.max(0, length);
      return length < 0 ? null : body.toString('utf8', at - length, at);
    },
    advance(bytes: number): void {
      at += bytes;
    },
  };
}
