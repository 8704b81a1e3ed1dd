import type { Call } from '../api.ts';

/** The service's limits on the size of a body and of an MCP message. */
const bytes = 5 * 1024 * 1024;
const messageBytes = 1024 * 1024;
const keyCount = 420_000;
const oversizedBytes = 64 * 1024 * 1024;

/**
 * `status` is the expected status, unless the service is overloaded. `concurrent` is the number of
 * requests to send at the same time, if it is not the usual one.
 */
export type Body = Call & { status: number; concurrent?: number };

/**
 * Bodies over the size limit, and bodies within it that are expensive to parse, validate or
 * allocate. They are sent to an ingest endpoint, because these have the highest limit, and to /mcp.
 */
export const hostileBodies: Record<string, () => Body> = {
  nested: () => around('"metadata":{"a":', (room) => '['.repeat(room / 2) + ']'.repeat(room / 2)),
  unclosed: () => refused('['.repeat(bytes)),
  values: () => around('"metadata":{"a":', (room) => `[${'0,'.repeat(room / 2 - 2)}0]`),
  keys: () => around('"metadata":{"a":', () => `{${members('k')}}`),
  unknownFields: () => refused(`{${members('u')},"userId":"h","data":{"text":"x"}}`),
  oversized: () => tooLarge(),
  oversizedChunks: () => ({ ...tooLarge(), chunked: true }),
  document: () => ({ ...refused(document('lorem ipsum dolor ')), status: 202 }),
  escapes: () => ({ ...refused(document('\\u0061\\n\\"')), status: 202 }),
  mcpArray: () => {
    const call = JSON.stringify(toolCall('list_memories', {}));
    const count = Math.floor(messageBytes / (call.length + 1)) - 1;
    return refused(`[${Array(count).fill(call).join()}]`, mcpPath('m'));
  },
  mcpText: () => ({ ...saveCall(messageBytes - 1_000), concurrent: 40 }),
  // A message of this size does not wait for other bodies before it is read.
  mcpMessages: () => ({ ...saveCall(65_000), concurrent: 250 }),
  mcpValues: () => {
    const metadata = { a: Array(190_000).fill(0) };
    return message(toolCall('save_memory', { content: 'x', metadata }));
  },
};

export function toolCall(name: string, args: object): object {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
}

function saveCall(length: number): Body {
  const content = 'x'.repeat(length);
  return message(toolCall('save_memory', { content }));
}

/** Reads a memory of the user. */
export function getCall(userId: string, id: string): Body {
  return message(toolCall('get_memory', { id }), userId);
}

const mcpPath = (userId: string) => `/mcp/users/${userId}`;

function message(json: unknown, userId = 'm'): Body {
  return { ...refused(JSON.stringify(json), mcpPath(userId)), status: 200 };
}

function refused(text: string, path = '/v1/ingest/document'): Body {
  return { method: 'POST', path, bytes: new TextEncoder().encode(text), status: 400 };
}

function tooLarge(): Body {
  return { ...refused(''), bytes: new Uint8Array(oversizedBytes).fill(32), status: 413 };
}

function around(head: string, fill: (room: number) => string): Body {
  const [before, after] = [`{"userId":"h",${head}`, '},"data":{"text":"x"}}'];
  const room = bytes - before.length - after.length;
  return refused(before + fill(room - (room % 2)) + after);
}

function members(letter: string): string {
  return Array.from(
    { length: keyCount },
    (_, index) => `"${letter}${index.toString(36)}":1`,
  ).join();
}

function document(words: string): string {
  const [before, after] = ['{"userId":"h","data":{"text":"', '"}}'];
  const times = Math.floor((bytes - before.length - after.length) / words.length);
  return before + words.repeat(times) + after;
}
