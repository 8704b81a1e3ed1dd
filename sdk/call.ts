import { type ApiPromise, type ApiResponse, apiPromise } from './api-promise.ts';
import * as names from './contract/headers.ts';
import type { Accepted, BatchAccepted } from './contract/ingest.ts';
import type { Memory, SavedMemory } from './contract/memory.ts';
import { type Operation, operations } from './contract/operations.ts';
import type { Page } from './contract/page.ts';
import type { ApiKey, Stats, UserPage } from './contract/project.ts';
import type { SearchAnswer } from './contract/search.ts';
import type { Health, IngestStatus, IngestStatuses } from './contract/status.ts';
import type { TaskPage } from './contract/tasks.ts';
import type { Deleted, Imported } from './contract/transfer.ts';
import { AuthenticationError, type InvalidRequestError, MemoryServiceError } from './errors.ts';
import { atLeast, type ConditionalOptions, invalid, isObject, type Settings } from './options.ts';
import { withRetries } from './retry.ts';
import type { ApiRequest } from './transport.ts';

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

export function openCall(settings: Settings): Call {
  async function run(name: keyof ResponseBodies, input: Input, options: InnerOptions) {
    let request: ApiRequest;
    try {
      request = requestOf(settings, name, input, options);
    } catch (error) {
      // The runtime throws if the input is not an object, cannot be serialized, or contains a value
      // that is not allowed in a header.
      throw error instanceof MemoryServiceError ? error : unsendable('request', error);
    }
    return withRetries(request, settings);
  }

  return (name, input, options = {}) =>
    // This is the only place that casts parsed JSON to a type. `send` checks its required field.
    apiPromise(run(name, input, options) as Promise<ApiResponse<ResponseBodies[typeof name]>>);
}

/** Builds the request once per call, because all attempts must share the idempotency key. */
function requestOf(
  settings: Settings,
  name: keyof ResponseBodies,
  input: Input,
  options: InnerOptions,
): ApiRequest {
  const operation: Operation = operations[name];
  if ('body' in input && !isObject(input.body)) throw invalid('the request must be an object');
  const headers = headersOf(settings, operation, options);
  const body = JSON.stringify(input.body);
  // An invalid date and NaN have become null, which would clear the time.
  if (body?.includes('null')) JSON.stringify(input.body, rejectLost);
  return {
    ...options,
    operation: name,
    method: operation.method,
    url: settings.baseUrl + pathOf(operation, input),
    headers,
    idempotencyKey: headers.get(names.idempotencyKey) || undefined,
    body,
    field: operation.field,
    timeoutMs: atLeast(1, 'timeoutMs', options.timeoutMs ?? settings.timeoutMs),
  };
}

function pathOf(operation: Operation, { id, query = {} }: Input): string {
  const path = operation.path.replace(':id', () => encodeURIComponent(checkedId(id)));
  // Do not drop an undefined userId: the call would then apply to all users.
  const isInvalid = !isObject(query) || ('userId' in query && typeof query.userId !== 'string');
  if (isInvalid) throw invalid('userId must be a string');
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined || (value === null && name === 'cursor')) return [];
    if (name !== 'metadata' || !isObject(value)) return pairOf(name, value);
    return Object.entries(value).map(([key, inner]) => pairOf(`${name}[${key}]`, inner));
  });
  return path + (pairs.length ? '?' : '') + pairs.join('&');
}

/**
 * Throws for null, objects, an invalid date and NaN: dropping a filter would match more than the
 * caller intended.
 */
function pairOf(name: string, value: unknown): string {
  const plain: unknown = JSON.parse(JSON.stringify(value ?? null));
  const text = String(plain);
  // encodeURIComponent throws on a lone surrogate, without the name.
  if (typeof plain === 'object' || !text.isWellFormed()) throw unsendable(name);
  return `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;
}

/** Throws for an invalid date and NaN, which JSON turns into null: it would clear a time. */
function rejectLost(this: Query, name: string, value: unknown): unknown {
  if (this[name] !== null && JSON.stringify(value) === 'null') throw unsendable(name);
  return value;
}

/** Rejects an empty id, `.` and `..`, because the URL would address another operation. */
function checkedId(id: unknown): string {
  if (typeof id === 'string' && !/^\.{0,2}$/.test(id)) return id;
  throw unsendable('id');
}

/** Builds the request headers. The caller's headers override the SDK's. */
function headersOf(settings: Settings, operation: Operation, options: ConditionalOptions) {
  const all = new Headers({ Accept: 'application/json' });
  const { idempotencyKey = randomKey(), ifVersion } = options;
  if (operation.method !== 'GET' && idempotencyKey !== null) {
    all.set(names.idempotencyKey, idempotencyKey);
  }
  if (ifVersion !== undefined) all.set(names.ifMatch, `"${ifVersion}"`);
  for (const [name, value] of Object.entries({ ...settings.headers, ...options.headers })) {
    all.set(name, value);
  }
  if (operation.path.startsWith('/v1') && !all.has(names.authorization)) {
    const { apiKey = '' } = settings;
    // The runtime's error for an invalid header would contain the key.
    if (!/^[!-~]+$/.test(apiKey)) {
      const message = 'set a valid apiKey or MEMORY_API_KEY; run memory keys create';
      throw new AuthenticationError(message, { code: 'unauthorized' });
    }
    all.set(names.authorization, `Bearer ${apiKey}`);
  }
  return all;
}

/** Does not use crypto.randomUUID(), which browsers provide only over HTTPS and on localhost. */
function randomKey(): string {
  // mutate-ignore constant: a longer key is also unique
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

function unsendable(name: string, cause?: unknown): InvalidRequestError {
  return invalid(`cannot be sent: ${name}`, cause);
}
