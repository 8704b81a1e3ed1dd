import {
  INVALID_REQUEST,
  type JSONRPCMessage,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { exactNumber, holdsInexact, inexactNumber } from '../../../sdk/contract/numbers.ts';

/**
 * Creates a transport for JSON-RPC messages, one a line. Unlike the library's, it rejects numbers
 * that would be rounded, responds to lines that are not messages, and knows whether every request
 * has its response.
 */
export function createLineTransport(write: (data: Uint8Array) => Promise<void>) {
  /** The ids of requests, and the refusals of lines. */
  const unanswered = new Set<unknown>();
  let onSettled = () => {};

  function settle(answered: unknown): void {
    unanswered.delete(answered);
    onSettled();
  }

  const transport: Transport = {
    async start() {},
    async close() {},
    async send(message) {
      await write(Buffer.from(serializeMessage(message))).finally(() => {
        if (!('method' in message)) settle(message.id);
      });
    },
  };

  return {
    transport,
    receive(line: Uint8Array): void {
      const read = readLine(line);
      if (read === undefined) return;
      if ('refusal' in read) {
        unanswered.add(read);
        const response = Buffer.from(`${JSON.stringify(read.refusal)}\n`);
        const written = write(response).catch((error) => transport.onerror?.(error));
        return void written.finally(() => settle(read));
      }
      const { message } = read;
      if ('method' in message && 'id' in message) unanswered.add(message.id);
      transport.onmessage?.(message);
      // A cancelled request gets no response.
      if ('method' in message && message.method === 'notifications/cancelled') {
        settle(message.params?.requestId);
      }
    },
    /** Resolves when every line that needs a response has one. */
    answered(): Promise<void> {
      return new Promise((resolve) => {
        onSettled = () => {
          if (unanswered.size === 0) resolve();
        };
        onSettled();
      });
    },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** With a reviver, JSON.parse takes thirty times as long. */
const mayBeInexact = /\d{16}/;

type Refusal = {
  jsonrpc: '2.0';
  id: RequestId | null;
  error: { code: number; message: string };
};

/** Returns nothing for a blank line. */
function readLine(
  line: Uint8Array,
): { message: JSONRPCMessage } | { refusal: Refusal } | undefined {
  let value: unknown;
  try {
    const text = utf8.decode(line);
    if (text.trim() === '') return undefined;
    value = JSON.parse(text, mayBeInexact.test(text) ? exactNumber : undefined);
  } catch {
    return refuse(PARSE_ERROR, 'the message is not valid JSON', null);
  }
  if (Array.isArray(value)) {
    return refuse(INVALID_REQUEST, 'batches are not supported; send each message alone', null);
  }
  try {
    if (holdsInexact(value)) return refuse(INVALID_REQUEST, `the message ${inexactNumber}`, value);
    return { message: parseJSONRPCMessage(value) };
  } catch {
    return refuse(INVALID_REQUEST, 'this is not a valid JSON-RPC message', value);
  }
}

function refuse(code: number, message: string, value: unknown): { refusal: Refusal } {
  const { id } = Object(value) as { id?: unknown };
  const isId = typeof id === 'string' || Number.isFinite(id);
  const error = { code, message };
  return { refusal: { jsonrpc: '2.0', id: isId ? (id as RequestId) : null, error } };
}
