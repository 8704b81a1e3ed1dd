import type { Random } from '../../support/random.ts';
import type { Call } from '../api.ts';
import { hostileBodies, toolCall } from './bodies.ts';

/** Expensive requests that a project may send within its rate limit. */
type Kind = {
  concurrency: number;
  /** Sends as fast as the service responds, which the rate limit permits for a while. */
  isUnpaced?: true;
  requests(random: Random, documentId: string): (index: number) => Call;
};

export const heavyUser = 'heavy';
export const fewUsers = 600;
export const fewMemories = 3;
const vocabulary = 4_000;
const queryWords = 48;
const longWord = 1_000;

export const kinds: Record<string, Kind> = {
  heavySearches: { concurrency: 16, requests: (random) => () => search(words(random, queryWords)) },
  longWords: { concurrency: 16, requests: (random) => () => search(letters(random, longWord)) },
  deletionsOfUnknownUsers: { concurrency: 4, requests: () => (index) => erase(`nobody-${index}`) },
  deletionsOfSmallUsers: {
    concurrency: 4,
    requests: () => (index) => erase(`few-${index % fewUsers}`),
  },
  exports: { concurrency: 4, requests: () => () => get('/v1/export?limit=1&userId=heavy') },
  batches: { concurrency: 2, requests: (random) => () => batch(eventsOf(random)) },
  denseBodies: { concurrency: 4, requests: denseBodies },
  mcpGets: {
    concurrency: 8,
    isUnpaced: true,
    requests: (random, id) => () =>
      tool('get_memory', { id, offset: random.between(0, 3_000_000) }),
  },
  mcpLists: {
    concurrency: 8,
    isUnpaced: true,
    requests: () => () => tool('list_memories', { limit: 100 }),
  },
  mcpSearches: {
    concurrency: 8,
    isUnpaced: true,
    requests: (random) => () => tool('search_memories', { query: words(random, queryWords) }),
  },
  mcpArrays: { concurrency: 4, requests: () => () => callsInOne },
};

const mcpPath = `/mcp/users/${heavyUser}`;

function tool(name: string, args: object): Call {
  return { method: 'POST', path: mcpPath, body: toolCall(name, args) };
}

const listAll = toolCall('list_memories', { limit: 100 });
const callsInOne: Call = { method: 'POST', path: mcpPath, body: Array(100).fill(listAll) };

function get(path: string): Call {
  return { method: 'GET', path };
}

function search(query: string): Call {
  return get(`/v1/memories/search?userId=${heavyUser}&query=${encodeURIComponent(query)}`);
}

function erase(userId: string): Call {
  return { method: 'DELETE', path: `/v1/memories?userId=${userId}` };
}

function batch(items: object[]): Call {
  return { method: 'POST', path: '/v1/ingest/batch', body: { items } };
}

function eventsOf(random: Random): object[] {
  const user = random.between(0, 50);
  return Array.from({ length: 1_000 }, () => eventOf(`batch-${user}`, words(random, 12)));
}

export function eventOf(userId: string, text: string): object {
  return { type: 'event', userId, data: { name: 'seen', text } };
}

function denseBodies(): (index: number) => Call {
  // Accepted bodies would also cause ingestion, so only rejected bodies are sent.
  const bodies = Object.values(hostileBodies)
    .map((make) => make())
    .filter(({ status }) => status === 400);
  return (index) => bodies[index % bodies.length] as Call;
}

export function words(random: Random, count: number): string {
  return Array.from({ length: count }, () => word(random.between(0, vocabulary))).join(' ');
}

function word(index: number): string {
  const syllables = ['ba', 'ke', 'li', 'mo', 'nu', 'ra', 'se', 'ti', 'vo', 'zu'];
  return [...String(index * 7_919)].map((digit) => syllables[Number(digit)]).join('');
}

function letters(random: Random, count: number): string {
  return Array.from({ length: count }, () => String.fromCharCode(random.between(97, 123))).join('');
}
