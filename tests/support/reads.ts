import { type Operation, type OperationName, operations } from '../../sdk/contract/operations.ts';
import type { Page } from '../../sdk/contract/page.ts';
import type { UserPage } from '../../sdk/contract/project.ts';
import type { SearchAnswer } from '../../sdk/contract/search.ts';
import type { IngestStatuses } from '../../sdk/contract/status.ts';
import { ask, bodyOf } from './http.ts';
import type { TestServer } from './server.ts';

/** The memory to search for. Its user has no other memories, and its content contains `word`. */
export type Sought = { id: string; userId: string; word: string };

/** Returns whether a read contains the memory or reveals that it exists. */
export type Probe = (server: TestServer, sought: Sought) => Promise<boolean>;

/**
 * Every operation that returns memories or reveals that they exist. In a list of users, the user
 * represents the memory, because the user has no other memories.
 */
export const probes: Partial<Record<OperationName, Probe>> = {
  get: async (server, { id }) => {
    return (await ask(server, 'GET', `/v1/memories/${id}`)).status === 200;
  },
  status: async (server, { id }) => {
    return (await ask(server, 'GET', `/v1/memories/${id}/status`)).status === 200;
  },
  statusMany: async (server, { id }) => {
    const body = { memoryIds: [id] };
    const answer = await ask(server, 'POST', '/v1/memories/status', { body });
    return bodyOf<IngestStatuses>(answer, 200).items.length > 0;
  },
  list: async (server, { id, userId }) => {
    const answer = await ask(server, 'GET', `/v1/memories?userId=${userId}&limit=100`);
    return answer.status === 200 && bodyOf<Page>(answer, 200).items.some((one) => one.id === id);
  },
  search: async (server, { id, userId, word }) => {
    const answer = await ask(server, 'GET', `/v1/memories/search?userId=${userId}&query=${word}`);
    if (answer.status !== 200) return false;
    return bodyOf<SearchAnswer>(answer, 200).items.some((one) => one.id === id);
  },
  export: async (server, { id }) => {
    const { items } = bodyOf<Page>(await ask(server, 'GET', '/v1/export'), 200);
    return items.some((one) => one.id === id);
  },
  users: async (server, { userId }) => {
    const { items } = bodyOf<UserPage>(await ask(server, 'GET', '/v1/users?limit=100'), 200);
    return items.some((one) => one.userId === userId);
  },
};

/** Read operations that do not return a complete memory. Stats count it, but do not name it. */
const readsNone: OperationName[] = ['tasks', 'stats', 'key', 'health'];

export function readsWithoutProbe(): string[] {
  return Object.entries<Operation>(operations)
    .filter(([, { method, reads = false }]) => method === 'GET' || reads)
    .map(([name]) => name as OperationName)
    .filter((name) => probes[name] === undefined && !readsNone.includes(name));
}

export async function whereFound(server: TestServer, sought: Sought): Promise<string[]> {
  const found: string[] = [];
  for (const [name, probe] of Object.entries(probes)) {
    if (await probe(server, sought)) found.push(name);
  }
  return found.sort();
}
