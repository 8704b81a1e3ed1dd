import { exampleMemory, type Memory } from '../../sdk/contract/memory.ts';
import { type Answer, ask, getPage, newUser, save } from './http.ts';
import type { TestServer } from './server.ts';
import { until } from './until.ts';

export type WriteRequest = { method: string; path: string; body?: object };

/** Returns a valid write for a user with one memory. Equal arguments give equal requests. */
export type MakeWrite = (userId: string, memoryId: string) => WriteRequest;

const entry = { author: 'user', content: 'Help me', timestamp: '2026-11-20T10:00:00Z' };
const common = { source: 'crm', metadata: { b: { y: 1, x: [2, { q: 1, p: 2 }] }, a: 'x' } };

export const writes: [route: string, make: MakeWrite][] = [
  ['POST /v1/memories', (userId) => saveOf(userId, 'new', { metadata: {} })],
  ingestOf('/ingest/support', { data: { subject: 'S', comments: [entry] } }),
  ingestOf('/ingest/document', { data: { text: 'T' } }),
  ingestOf('/ingest/chat', { data: { messages: [entry] } }),
  ingestOf('/ingest', { type: 'event', data: { name: 'n', k: 1 } }),
  [
    'POST /v1/ingest/batch',
    (userId) => {
      const item = { userId, ...common, type: 'document', data: { text: 'T' } };
      return post('/ingest/batch', { items: [item, { bad: 'one' }, item] });
    },
  ],
  ['POST /v1/import', (userId) => post('/import', { items: [importable(userId), { bad: 'one' }] })],
  ['DELETE /v1/memories', (userId) => remove(`?userId=${encodeURIComponent(userId)}`)],
  [
    'PATCH /v1/memories/:id',
    (_, id) => {
      const body = { content: 'newer', metadata: { b: 1, a: 2 } };
      return { method: 'PATCH', path: `/v1/memories/${id}`, body };
    },
  ],
  ['DELETE /v1/memories/:id', (_, id) => remove(`/${id}`)],
];

/** A memory that an import accepts, with an id unique to the user. */
export function importable(userId: string): Memory {
  return {
    ...exampleMemory,
    ...common,
    id: `mem_${userId}`,
    userId,
    content: 'taken in',
    type: 'document',
    status: 'complete',
    updatedAt: '2026-11-20T10:00:01.000Z',
  };
}

export const writesWithBody = writes.filter(([route]) => !route.startsWith('DELETE'));

function ingestOf(path: string, fields: object): [route: string, make: MakeWrite] {
  return [`POST /v1${path}`, (userId) => post(path, { userId, ...common, ...fields })];
}

const remove = (rest: string): WriteRequest => ({ method: 'DELETE', path: `/v1/memories${rest}` });

function post(path: string, body: object): WriteRequest {
  return { method: 'POST', path: `/v1${path}`, body };
}

export function sendKeyed(
  server: TestServer,
  { method, path, body }: WriteRequest,
  key: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const options = { headers: { ...headers, 'idempotency-key': key } };
  return ask(server, method, path, body === undefined ? options : { ...options, body });
}

/** Creates a user with one memory. Returns both, and the write that `make` returns for them. */
export async function prepare(server: TestServer, make: MakeWrite) {
  const userId = newUser();
  const { id } = await save(server, userId, 'the first');
  return { userId, id, request: make(userId, id) };
}

/** Waits until all memories of the user are complete, and returns them. */
export function completeMemories(server: TestServer, userId: string): Promise<Memory[]> {
  const list = async () => (await getPage(server, userId)).items;
  return until(list, { fits: (items) => items.every(({ status }) => status === 'complete') });
}

/** Whether a response is the first one to its idempotency key, or replayed. */
export function markOf({ headers }: Answer): string | null {
  return headers.get('idempotency-status');
}

export function saveOf(userId: string, content = 'x', more: object = {}): WriteRequest {
  return post('/memories', { userId, content, ...more });
}

/** The parts of a response that a replay must repeat. */
export function essence({ status, text, headers }: Answer) {
  const [type, location] = [headers.get('content-type'), headers.get('location')];
  return { status, text, type, location, etag: headers.get('etag') };
}
