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
const content = 'new text';
const data = { text: content };
const chat = { messages: [{ role: 'user', content }] };
const recordOf = (userId: string | null) => ({ type: 'document', ...user(userId), data });

/** Operations that do not return saved memories. Every other one has an entry in `parts`. */
export const withoutMemories: OperationName[] = ['tasks', 'stats', 'key', 'health'];
const parts: Partial<Record<OperationName, (target: Target) => { query?: string; body?: object }>> =
  {
    save: ({ userId }) => ({ body: { ...user(userId), content } }),
    list: ({ userId }) => ({ query: query(userId) }),
    get: () => ({}),
    update: () => ({ body: { content } }),
    delete: () => ({}),
    deleteAll: ({ userId }) => ({ query: query(userId) }),
    search: ({ userId, text }) => ({ query: query(userId, `query=${encodeURIComponent(text)}`) }),
    status: () => ({}),
    statusMany: ({ id }) => ({ body: { memoryIds: [id] } }),
    'ingest.support': ({ userId }) => {
      return { body: { ...user(userId), data: { subject: content, comments: [] } } };
    },
    'ingest.document': ({ userId }) => ({ body: { ...user(userId), data } }),
    'ingest.chat': ({ userId }) => ({ body: { ...user(userId), data: chat } }),
    'ingest.record': ({ userId }) => ({ body: recordOf(userId) }),
    'ingest.batch': ({ userId }) => ({ body: { items: [recordOf(userId)] } }),
    export: ({ userId }) => ({ query: query(userId) }),
    import: ({ userId }) => {
      const { userId: _, ...item } = { ...exampleMemory, id: `mem_${crypto.randomUUID()}` };
      return { body: { items: [{ ...item, ...user(userId) }] } };
    },
    users: () => ({ query: '?limit=100' }),
  };

export const named = Object.keys(parts) as OperationName[];

/** Returns a valid request. Those of operations without memories have neither query nor body. */
export function requestOf(name: OperationName, target: Target): Request {
  const { query = '', ...request } = parts[name]?.(target) ?? {};
  return { ...request, path: operations[name].path.replace(':id', target.id) + query };
}

export function isWrite(name: OperationName): boolean {
  return operations[name].method !== 'GET' && name !== 'statusMany';
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
  const { path, body } = requestOf(name, target);
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
