import { type ApiPromise, type ApiResponse, apiPromise } from './api-promise.ts';
import { headers as names } from './contract/headers.ts';
import type { Accepted, BatchAccepted } from './contract/ingest.ts';
import type { Memory, SavedMemory } from './contract/memory.ts';
import { type Operation, operations } from './contract/operations.ts';
import type { Page } from './contract/page.ts';
import type { ApiKey, Stats, UserPage } from './contract/project.ts';
import type { SearchAnswer } from './contract/search.ts';
import type { Health, IngestStatus, IngestStatuses } from './contract/status.ts';
import type { TaskPage } from './contract/tasks.ts';
import type { Deleted, Imported } from './contract/transfer.ts';
import { AuthenticationError, MemoryServiceError } from './errors.ts';
import { atLeast, type ConditionalOptions, invalid, isObject, type Settings } from './options.ts';
import { withRetries } from './retry.ts';
import { type ApiRequest, attempt, openTransport } from './transport.ts';

export type ResponseBodies = {
  save: SavedMemory;
  list: Page;
  get: Memory;
  update: Memory;
  delete: undefined;
  deleteAll: Deleted;
  search: SearchAnswer;
  status: IngestStatus;
  statusMany: IngestStatuses;
  'ingest.support': Accepted;
  'ingest.document': Accepted;
  'ingest.chat': Accepted;
  'ingest.record': Accepted;
  'ingest.batch': BatchAccepted;
  export: Page;
  import: Imported;
  users: UserPage;
  tasks: TaskPage;
  stats: Stats;
  key: ApiKey;
  health: Health;
};

/** The required field of each response, if it is not `memoryId`. */
const requiredFields: { [Name in keyof ResponseBodies]?: string } = {
  save: 'id',
  list: 'nextCursor',
  get: 'id',
  update: 'id',
  deleteAll: 'deleted',
  search: 'items',
  statusMany: 'notFound',
  'ingest.batch': 'failed',
  export: 'nextCursor',
  import: 'failed',
  users: 'nextCursor',
  tasks: 'nextCursor',
  stats: 'memories',
  key: 'readOnly',
  health: 'status',
};

type Input = {
  id?: string;
  query?: Query;
  body?: unknown;
};

/** Undefined values are not sent. The map `metadata` is sent as `metadata[key]=value`. */
type Query = { [name: string]: unknown };

/** The options of a call, with a callback for internal use. */
type InnerOptions = ConditionalOptions & { onRetry?: ApiRequest['onRetry'] };

/** Calls an operation of the contract by its name. */
export type Call = <Name extends keyof ResponseBodies>(
  name: Name,
  input: Input,
  options: InnerOptions | undefined,
) => ApiPromise<ResponseBodies[Name]>;

const unsendable = 'the arguments cannot be sent as a request';

export function openCall(settings: Settings): Call {
  const transport = openTransport(settings.fetch);

  /** Builds the request once per call, because all attempts must share the idempotency key. */
  function requestOf(name: keyof ResponseBodies, input: Input, options: InnerOptions): ApiRequest {
    const operation: Operation = operations[name];
    if ('body' in input && !isObject(input.body)) throw invalid('the request must be an object');
    const headers = headersOf(settings, operation, input, options);
    const body = JSON.stringify(input.body);
    if (body?.includes('null')) rejectLostValues(input.body);
    if ('body' in input && body === undefined) throw invalid(`${unsendable}: request`);
    return {
      name,
      method: operation.method,
      url: settings.baseUrl + pathOf(operation, input),
      headers,
      idempotencyKey: headers.get(names.idempotencyKey) || undefined,
      body,
      requiredField: requiredFields[name] ?? 'memoryId',
      timeoutMs: atLeast(1, 'timeoutMs', options.timeoutMs ?? settings.timeoutMs),
      signal: options.signal,
      onRetry: options.onRetry,
    };
  }

  async function run(name: keyof ResponseBodies, input: Input, options: InnerOptions) {
    let request: ApiRequest;
    try {
      request = requestOf(name, input, options);
    } catch (error) {
      // The runtime throws if the input is not an object, cannot be serialized, or contains a value
      // that is not allowed in a header.
      throw error instanceof MemoryServiceError ? error : invalid(unsendable, error);
    }
    return withRetries((number) => attempt(transport, request, number), request, settings);
  }

  return (name, input, options = {}) =>
    // This is the only place that casts parsed JSON to a type. `attempt` checks the required field.
    apiPromise(run(name, input, options) as Promise<ApiResponse<ResponseBodies[typeof name]>>);
}

function pathOf(operation: Operation, { id, query = {} }: Input): string {
  const path = operation.path.replace(':id', () => encodeURIComponent(checkedId(id)));
  // Do not drop an undefined userId: the call would then apply to all users.
  const isInvalid = !isObject(query) || ('userId' in query && typeof query.userId !== 'string');
  if (isInvalid) throw invalid('userId must be a string');
  // encodeURIComponent throws on a lone surrogate; URLSearchParams would replace it.
  const search = pairsOf(query)
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&');
  return search === '' ? path : `${path}?${search}`;
}

type Pair = [name: string, value: string];

function pairsOf(query: Query): Pair[] {
  return Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined || (value === null && name === 'cursor')) return [];
    if (name !== 'metadata' || !isObject(value)) return [pairOf(name, value)];
    return Object.entries(value).map(([key, inner]) => pairOf(`${name}[${key}]`, inner));
  });
}

/** Throws for null and objects: dropping a filter would match more than the caller intended. */
function pairOf(name: string, value: unknown): Pair {
  const text = textOf(name, value);
  const isSendable = typeof (text ?? {}) !== 'object' && String(text).isWellFormed();
  if (!isSendable) throw invalid(`${unsendable}: ${name}`);
  return [name, String(text)];
}

/**
 * Converts a `Date` to text and returns any other value unchanged. Throws if the date is invalid,
 * or if the value is NaN or infinite.
 */
function textOf(name: string, value: unknown): unknown {
  const isDate = value instanceof Date;
  const number = isDate ? value.getTime() : value;
  if (typeof number === 'number' && !Number.isFinite(number)) {
    throw invalid(`${unsendable}: ${name}`);
  }
  return isDate ? value.toISOString() : value;
}

/** Rejects an empty id, `.` and `..`, because the URL would address another operation. */
function checkedId(id: unknown): string {
  if (typeof id === 'string' && !/^\.{0,2}$/.test(id)) return id;
  throw invalid('the id of a memory must be a non-empty string');
}

/** Builds the request headers. The caller's headers override the SDK's. */
function headersOf(
  settings: Settings,
  operation: Operation,
  input: Input,
  options: ConditionalOptions,
) {
  const all = new Headers({ Accept: 'application/json' });
  const { idempotencyKey = randomKey(), ifVersion } = options;
  if (input.body !== undefined) all.set('Content-Type', 'application/json');
  if (operation.method !== 'GET' && idempotencyKey !== null) {
    all.set(names.idempotencyKey, idempotencyKey);
  }
  if (ifVersion !== undefined) all.set(names.ifMatch, `"${ifVersion}"`);
  for (const [name, value] of Object.entries({ ...settings.headers, ...options.headers })) {
    all.set(name, value);
  }
  if (operation.path.startsWith('/v1') && !all.has(names.authorization)) {
    all.set(names.authorization, bearer(settings));
  }
  return all;
}

/** JSON.stringify turns an invalid date and NaN into null, which would clear the time. */
function rejectLostValues(body: unknown): void {
  JSON.stringify(body, function (this: Query, name, value) {
    textOf(name, this[name]);
    return value;
  });
}

/** Does not use crypto.randomUUID(), which browsers provide only over HTTPS and on localhost. */
function randomKey(): string {
  // mutate-ignore constant: a longer key is also unique
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** Validates the key, because the runtime's error for an invalid header would contain the key. */
function bearer({ apiKey }: Settings): string {
  if (apiKey && /^[\x21-\x7e]+$/.test(apiKey)) return `Bearer ${apiKey}`;
  const message = apiKey
    ? 'the API key must contain only visible ASCII characters; check apiKey or MEMORY_API_KEY'
    : 'no API key was provided; set MEMORY_API_KEY or pass apiKey (`memory keys create` creates a key)';
  throw new AuthenticationError(message, { code: 'unauthorized' });
}
