import { expect } from 'bun:test';
import { exampleMemory } from '../../sdk/contract/memory.ts';
import { type OperationName, operations } from '../../sdk/contract/operations.ts';
import { type Answer, ask, newUser, save } from './http.ts';
import type { TestServer } from './server.ts';

/** A user, and the id and text of one of the user's memories. A null `userId` is not sent. */
export type Target = { userId: string | null; id: string; text: string };

type Request = { path: string; body?: object };

const user = (userId: string | null) => (userId === null ? {} : { userId });
const query = (userId: string | null, more = '') =>
  `?${userId === null ? '' : `userId=${userId}`}&${more}`.replace(/[?&]+$/, '');
const data = { text: 'new text' };
const recordOf = (userId: string | null) => ({ type: 'document', ...user(userId), data });

/** Operations that do not return saved memories. Every other one has an entry in `requests`. */
export const withoutMemories: OperationName[] = ['tasks', 'stats', 'key', 'health'];
export const requests: Partial<Record<OperationName, (target: Target) => Request>> = {
  save: ({ userId }) => ({ path: '/v1/memories', body: { ...user(userId), content: 'new text' } }),
  list: ({ userId }) => ({ path: `/v1/memories${query(userId)}` }),
  get: ({ id }) => ({ path: `/v1/memories/${id}` }),
  update: ({ id }) => ({ path: `/v1/memories/${id}`, body: { content: 'new text' } }),
  delete: ({ id }) => ({ path: `/v1/memories/${id}` }),
  deleteAll: ({ userId }) => ({ path: `/v1/memories${query(userId)}` }),
  search: ({ userId, text }) => ({
    path: `/v1/memories/search${query(userId, `query=${encodeURIComponent(text)}`)}`,
  }),
  status: ({ id }) => ({ path: `/v1/memories/${id}/status` }),
  statusMany: ({ id }) => ({ path: '/v1/memories/status', body: { memoryIds: [id] } }),
  'ingest.support': ({ userId }) => ({
    path: '/v1/ingest/support',
    body: { ...user(userId), data: { subject: 'new text', comments: [] } },
  }),
  'ingest.document': (of) => ({ path: '/v1/ingest/document', body: { ...user(of.userId), data } }),
  'ingest.chat': ({ userId }) => ({
    path: '/v1/ingest/chat',
    body: { ...user(userId), data: { messages: [{ role: 'user', content: 'new text' }] } },
  }),
  'ingest.record': ({ userId }) => ({ path: '/v1/ingest', body: recordOf(userId) }),
  'ingest.batch': ({ userId }) => ({
    path: '/v1/ingest/batch',
    body: { items: [recordOf(userId)] },
  }),
  export: ({ userId }) => ({ path: `/v1/export${query(userId)}` }),
  import: ({ userId }) => {
    const { userId: _, ...item } = { ...exampleMemory, id: `mem_${crypto.randomUUID()}` };
    return { path: '/v1/import', body: { items: [{ ...item, ...user(userId) }] } };
  },
  users: () => ({ path: '/v1/users?limit=100' }),
};

export const named = Object.keys(requests) as OperationName[];

export function isWrite(name: OperationName): boolean {
  const { method, reads }: { method: string; reads?: true } = operations[name];
  return method !== 'GET' && reads === undefined;
}

export const byId = named.filter((name) => operations[name].path.includes(':id'));
/** Operations whose invalid items fail individually. */
export const ofItems: OperationName[] = ['ingest.batch', 'import'];
/** Operations on memories of many users. */
const ofMany: OperationName[] = ['users', 'statusMany'];
export const byUser = named.filter(
  (name) => !byId.includes(name) && !ofItems.includes(name) && !ofMany.includes(name),
);

/** Performs an operation on the target, with the key of `as`. */
export function perform(as: TestServer, name: OperationName, target: Target): Promise<Answer> {
  const request = requests[name]?.(target);
  if (request === undefined) throw new Error(`${name} has no request here`);
  const { path, body } = request;
  return ask(as, operations[name].method, path, body === undefined ? {} : { body });
}

/** Creates a user with one memory, whose text is unique. */
export async function newTarget(server: TestServer): Promise<Target & { userId: string }> {
  const text = `text${crypto.randomUUID().replaceAll('-', '')}`;
  const { userId, id } = await save(server, newUser(), text);
  return { userId, id, text };
}

export async function contentsOf({ client }: TestServer, userId: string): Promise<string[]> {
  const { items } = await client.list({ userId, limit: 100 });
  return items.map(({ content }) => content);
}

export function expectHidden(answer: Answer, { id, text, userId }: Target): void {
  // `notFound` repeats the requested ids, so only `id` and `memoryId` fields are checked.
  expect(answer.text).not.toContain(text);
  expect(answer.text).not.toContain(`"userId":"${userId}"`);
  expect(answer.text).not.toContain(`"id":"${id}"`);
  expect(answer.text).not.toContain(`"memoryId":"${id}"`);
}
