import { type Answer, type ApiPromise, apiPromise } from './answer.ts';
import { headers as names } from './contract/headers.ts';
import type { Accepted, BatchAccepted } from './contract/ingest.ts';
import type { Memory, SavedMemory } from './contract/memory.ts';
import { type Operation, operations } from './contract/operations.ts';
import type { Page } from './contract/page.ts';
import type { SearchAnswer } from './contract/search.ts';
import type { Health, IngestStatus } from './contract/status.ts';
import type { Deleted, Imported } from './contract/transfer.ts';
import { AuthenticationError, MemoryServiceError } from './errors.ts';
import { atLeast, type CallOptions, invalid, type Settings } from './options.ts';
import { withRetries } from './retry.ts';
import { attempt, isObject, type Outgoing, openTransport } from './transport.ts';

/** What each operation answers with. */
export type Answers = {
  save: SavedMemory;
  list: Page;
  get: Memory;
  update: Memory;
  delete: undefined;
  deleteAll: Deleted;
  search: SearchAnswer;
  status: IngestStatus;
  'ingest.support': Accepted;
  'ingest.document': Accepted;
  'ingest.chat': Accepted;
  'ingest.record': Accepted;
  'ingest.batch': BatchAccepted;
  export: Page;
  import: Imported;
  health: Health;
};

/** The field without which JSON is not the service's answer, where that is not `memoryId`. */
const telltales: { [Name in keyof Answers]?: string } = {
  save: 'id',
  list: 'nextCursor',
  get: 'id',
  update: 'id',
  deleteAll: 'deleted',
  search: 'items',
  'ingest.batch': 'failed',
  export: 'nextCursor',
  import: 'failed',
  health: 'status',
};

type Input = {
  id?: string;
  query?: Query;
  body?: unknown;
};

/** What is undefined is not sent; the map `metadata` is sent as `metadata[key]=value`. */
type Query = { [name: string]: unknown };

/** What the SDK itself can ask for besides. */
type InnerOptions = CallOptions & { onFault?: Outgoing['onFault'] };

/** Calls an operation of the contract by its name. */
export type Call = <Name extends keyof Answers>(
  name: Name,
  input: Input,
  options: InnerOptions | undefined,
) => ApiPromise<Answers[Name]>;

const unsendable = 'the request cannot be made of these arguments';

export function openCall(settings: Settings): Call {
  const transport = openTransport(settings.fetch);

  /** All that the attempts share, the idempotency key above all, is made here, once. */
  function requestOf(name: keyof Answers, input: Input, options: InnerOptions): Outgoing {
    const operation: Operation = operations[name];
    const headers = headersOf(settings, operation, input, options);
    const body = JSON.stringify(input.body);
    if ('body' in input && body === undefined) throw invalid(`${unsendable}: request`);
    return {
      name,
      method: operation.method,
      url: settings.baseUrl + pathOf(operation, input),
      headers,
      idempotencyKey: headers.get(names.idempotencyKey) || undefined,
      body,
      success: operation.success,
      telltale: telltales[name] ?? 'memoryId',
      timeoutMs: atLeast(1, 'timeoutMs', options.timeoutMs ?? settings.timeoutMs),
      signal: options.signal,
      onFault: options.onFault,
    };
  }

  async function run(name: keyof Answers, input: Input, options: InnerOptions) {
    let request: Outgoing;
    try {
      request = requestOf(name, input, options);
    } catch (error) {
      // The engine's own errors: no object, no JSON, no text for a header.
      throw error instanceof MemoryServiceError ? error : invalid(unsendable, error);
    }
    return withRetries((number) => attempt(transport, request, number), request, settings);
  }

  return (name, input, options = {}) =>
    // The one place where parsed JSON takes its type: its telltale fields have been checked.
    apiPromise(run(name, input, options) as Promise<Answer<Answers[typeof name]>>);
}

function pathOf(operation: Operation, { id, query = {} }: Input): string {
  const path = operation.path.replace(':id', () => encodeURIComponent(checkedId(id)));
  // Not sent, a user that a caller lost on the way, or put into a Map, would make it a call about
  // everybody.
  const isLost = !isObject(query) || ('userId' in query && typeof query.userId !== 'string');
  if (isLost) throw invalid('userId must be a string');
  // Unlike URLSearchParams it refuses half a character, and does not ask about another user.
  const search = pairsOf(query)
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&');
  return search === '' ? path : `${path}?${search}`;
}

type Pair = [name: string, value: string];

function pairsOf(query: Query): Pair[] {
  return Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (name !== 'metadata' || !isObject(value)) return [pairOf(name, value)];
    return Object.entries(value).map(([key, inner]) => pairOf(`${name}[${key}]`, inner));
  });
}

/** Left out, a filter that a caller lost on the way would widen the call to all of the user. */
function pairOf(name: string, value: unknown): Pair {
  if (typeof (value ?? {}) === 'object') throw invalid(`${unsendable}: ${name}`);
  return [name, String(value)];
}

/** Empty or dots, an id would make the path of another operation. */
function checkedId(id: unknown): string {
  if (typeof id === 'string' && !/^\.{0,2}$/.test(id)) return id;
  throw invalid('the id of a memory must be a non-empty string');
}

/** Ours, and the caller's over them. */
function headersOf(settings: Settings, operation: Operation, input: Input, options: CallOptions) {
  const all = new Headers({ Accept: 'application/json' });
  const { idempotencyKey = randomKey() } = options;
  if (input.body !== undefined) all.set('Content-Type', 'application/json');
  if (operation.method !== 'GET' && idempotencyKey !== null) {
    all.set(names.idempotencyKey, idempotencyKey);
  }
  for (const [name, value] of Object.entries({ ...settings.headers, ...options.headers })) {
    all.set(name, value);
  }
  if (operation.path.startsWith('/v1') && !all.has(names.authorization)) {
    all.set(names.authorization, bearer(settings));
  }
  return all;
}

/** Not crypto.randomUUID(): browsers have that only on https and localhost. */
function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** Checked here because the engine's own error would quote the key. */
function bearer({ apiKey }: Settings): string {
  if (apiKey && /^[\x21-\x7e]+$/.test(apiKey)) return `Bearer ${apiKey}`;
  throw new AuthenticationError(
    'the API key is missing or not visible ASCII: see apiKey and MEMORY_API_KEY',
    { code: 'unauthorized' },
  );
}
