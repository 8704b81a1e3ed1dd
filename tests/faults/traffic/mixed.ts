import type { Random } from '../../support/random.ts';
import { type Call, type Reply, send } from '../api.ts';
import type { Target } from '../target.ts';
import { toolCall } from './bodies.ts';
import { startLoops } from './loops.ts';
import { createTexts, type Texts } from './texts.ts';

/** The number of users. A few of them own most memories. */
const users = 400;
/** The number of recent ids of a user that later operations may use. */
const remembered = 200;
/** The number of names of external records of a user. A name is ingested again and again. */
const externalIds = 50;

export type MixedLoad = {
  /** The number of requests by operation. */
  readonly counts: Record<string, number>;
  /** The requests that failed, as text. */
  readonly failures: string[];
  stop(): Promise<void>;
};

/** Starts clients that send all kinds of requests, each one request after the other. */
export function startMixedLoad(target: Target, random: Random, clients: number): MixedLoad {
  const counts: Record<string, number> = {};
  const failures: string[] = [];
  const ids = new Map<string, string[]>();

  function createClient(own: Random): () => Promise<void> {
    const texts = createTexts(own);
    return async () => {
      const kind = pickKind(own);
      const userId = `user-${Math.floor(users * own.next() ** 3)}`;
      const known = ids.get(userId) ?? [];
      ids.set(userId, known);
      const call = kinds[kind]?.make({ userId, known, random: own, texts });
      if (call === undefined) return;
      counts[kind] = (counts[kind] ?? 0) + 1;
      const reply = await send(target, { method: 'POST', ...call });
      // Another client may have deleted the memory.
      if (reply === null || (reply.status >= 300 && reply.status !== 404)) {
        failures.push(`${kind}: ${reply?.status} ${reply?.text.slice(0, 200)}`);
      } else remember(known, kind, reply);
    };
  }

  const steps = Array.from({ length: clients }, (_, index) => createClient(random.fork(index)));
  return { counts, failures, stop: startLoops(steps).stop };
}

function remember(known: string[], kind: string, { status, text }: Reply): void {
  if (kind === 'deleteAll') known.length = 0;
  if (status !== 201 && status !== 202) return;
  const { memoryId, id, items } = JSON.parse(text) as Record<string, unknown>;
  for (const one of (items ?? [{ memoryId: memoryId ?? id }]) as { memoryId: string }[]) {
    known.push(one.memoryId);
  }
  known.splice(0, known.length - remembered);
}

type Given = { userId: string; known: string[]; random: Random; texts: Texts };
type Made = Partial<Call> & { path: string };
/** `make` returns undefined if the user has no memory yet. */
type Kind = { weight: number; make(given: Given): Made | undefined };

const queryOf = (values: Record<string, string>) => new URLSearchParams(values).toString();

function read(path: string, values: Record<string, string> = {}): Made {
  return { method: 'GET', path: `${path}?${queryOf(values)}` };
}

function byId(method: Call['method'], { known, random }: Given, rest = ''): Made | undefined {
  if (known.length === 0) return undefined;
  return { method, path: `/v1/memories/${random.pick(known)}${rest}` };
}

function saveOf({ userId, texts, random }: Given): Made {
  const metadata = { topic: `topic-${random.between(0, 20)}` };
  return { path: '/v1/memories', body: { userId, content: texts.short(), metadata } };
}

function ticketOf({ userId, texts, random }: Given) {
  const externalId = `ticket-${random.between(0, externalIds)}`;
  const comments = Array.from({ length: random.between(1, 12) }, () => {
    return { author: random.chance(0.5) ? 'user' : 'agent', content: texts.short() };
  });
  const data = { subject: texts.words(6), comments };
  return { userId, source: 'desk', externalId, data };
}

function importOf({ userId, texts, random }: Given): Made {
  const at = new Date(Date.UTC(2024, 0, 1) + random.between(0, 1e9)).toISOString();
  const items = Array.from({ length: random.between(50, 500) }, () => ({
    ...{ id: `mem_${crypto.randomUUID().replaceAll('-', '')}`, userId, content: texts.short() },
    ...{ metadata: {}, type: 'memory', source: null, externalId: null, status: 'complete' },
    ...{ version: 1, occurredAt: null, expiresAt: null, createdAt: at, updatedAt: at },
  }));
  return { path: '/v1/import', body: { items } };
}

function mcpOf({ userId }: Given, name: string, args: object): Made {
  return { path: `/mcp/users/${userId}`, body: toolCall(name, args) };
}

const kinds: Record<string, Kind> = {
  save: { weight: 2_000, make: saveOf },
  keyedSave: {
    weight: 1_000,
    make: (given) => ({ ...saveOf(given), idempotencyKey: crypto.randomUUID() }),
  },
  replace: {
    weight: 400,
    make(given) {
      const { path, body } = saveOf(given);
      const externalId = `note-${given.random.between(0, externalIds)}`;
      return { path, body: { ...(body as object), externalId } };
    },
  },
  update: {
    weight: 600,
    make(given) {
      const made = byId('PATCH', given);
      return made && { ...made, body: { content: given.texts.short() } };
    },
  },
  get: { weight: 1_500, make: (given) => byId('GET', given) },
  status: { weight: 600, make: (given) => byId('GET', given, '/status') },
  statusMany: {
    weight: 100,
    make: ({ known }) =>
      known.length === 0
        ? undefined
        : { path: '/v1/memories/status', body: { memoryIds: known.slice(-100) } },
  },
  list: { weight: 800, make: ({ userId }) => read('/v1/memories', { userId, limit: '50' }) },
  filteredList: {
    weight: 200,
    make: ({ userId }) => read('/v1/memories', { userId, 'metadata[topic]': 'topic-7' }),
  },
  search: {
    weight: 1_800,
    make: ({ userId, texts }) => read('/v1/memories/search', { userId, query: texts.words(4) }),
  },
  ingestTicket: {
    weight: 300,
    make: (given) => ({ path: '/v1/ingest/support', body: ticketOf(given) }),
  },
  ingestBatch: {
    weight: 30,
    make(given) {
      const count = given.random.between(10, 200);
      const items = Array.from({ length: count }, () => ({ type: 'ticket', ...ticketOf(given) }));
      return { path: '/v1/ingest/batch', body: { items } };
    },
  },
  ingestDocument: {
    weight: 40,
    make: ({ userId, texts, random }) => {
      const externalId = `document-${random.between(0, 5)}`;
      const body = { userId, externalId, data: { text: texts.document() } };
      return { path: '/v1/ingest/document', body };
    },
  },
  delete: { weight: 300, make: (given) => byId('DELETE', given) },
  deleteAll: {
    weight: 5,
    make: ({ userId }) => ({ method: 'DELETE', path: `/v1/memories?${queryOf({ userId })}` }),
  },
  import: { weight: 15, make: importOf },
  export: { weight: 10, make: ({ userId }) => read('/v1/export', { userId, limit: '1000' }) },
  users: { weight: 50, make: () => read('/v1/users', { limit: '100' }) },
  mcpSearch: {
    weight: 80,
    make: (given) => mcpOf(given, 'search_memories', { query: given.texts.words(3) }),
  },
  mcpList: { weight: 40, make: (given) => mcpOf(given, 'list_memories', {}) },
};

const totalWeight = Object.values(kinds).reduce((sum, { weight }) => sum + weight, 0);

function pickKind(random: Random): string {
  let left = random.next() * totalWeight;
  for (const [kind, { weight }] of Object.entries(kinds)) {
    left -= weight;
    if (left < 0) return kind;
  }
  return 'save';
}
