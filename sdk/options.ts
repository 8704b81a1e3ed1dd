import type { OperationName } from './contract/operations.ts';
import { InvalidRequestError, type MemoryServiceError } from './errors.ts';

/** The client's options. All are optional. */
export type ClientOptions = {
  /** Default: the environment variable `MEMORY_API_KEY`. */
  apiKey?: string | undefined;
  /** Default: the environment variable `MEMORY_BASE_URL`, then `http://127.0.0.1:7070`. */
  baseUrl?: string | undefined;
  /** The timeout of one attempt in milliseconds, including the body. Default 30,000. */
  timeoutMs?: number | undefined;
  /** The maximum number of retries per call. Default 2; 0 disables retries. */
  maxRetries?: number | undefined;
  /**
   * The delay before the first retry in milliseconds. It doubles each time, up to 8 s. Default 500.
   */
  retryDelayMs?: number | undefined;
  /** Headers for every request. They override the SDK's own headers. */
  headers?: Record<string, string> | undefined;
  /** The function that sends the requests. Default: the global `fetch`. */
  fetch?: FetchFunction | undefined;
  /**
   * Called after every attempt, for logging. The SDK does not await the callback. The event
   * contains no secrets. Errors that the callback throws are ignored.
   */
  onAttempt?: ((event: AttemptEvent) => unknown) | undefined;
};

export type FetchFunction = (url: string, init?: RequestInit) => Promise<Response>;

/** The last argument of every method. */
export type CallOptions = {
  /** Aborts the call, including the waits between attempts, with an `AbortError`. */
  signal?: AbortSignal | null | undefined;
  /** The timeout of one attempt of this call. Default: the client's `timeoutMs`. */
  timeoutMs?: number | undefined;
  /**
   * Writes only: 1–255 visible ASCII characters. Repeating a key returns the stored response.
   * Default: a new key for every call. With `null`, the write has no key and is never retried.
   */
  idempotencyKey?: string | null | undefined;
  /** Headers for the requests of this call. They override the client's headers. */
  headers?: Record<string, string> | undefined;
};

/**
 * The result of a write that can be repeated with its idempotency key. If the memory has been
 * deleted since, `deleted` is true, and the result has no other fields than `id` and `memoryId`.
 */
export type Replayable<Result> = Result & { deleted?: true };

/** The last argument of methods that change one memory. */
export type ConditionalOptions = CallOptions & {
  /**
   * The expected `version` of the memory. If it differs, the call throws `PreconditionFailedError`.
   */
  ifVersion?: number | undefined;
};

/** One finished attempt. */
export type AttemptEvent = {
  operation: OperationName;
  method: string;
  url: string;
  /** The number of the attempt, starting at 1. */
  attempt: number;
  durationMs: number;
  status: number | undefined;
  requestId: string | undefined;
  error: MemoryServiceError | undefined;
  /** The delay before the next attempt; undefined if this was the last one. */
  retryInMs: number | undefined;
};

export type Settings = ReturnType<typeof readSettings>;

/** Options override the environment, which overrides the defaults. Throws `InvalidRequestError`. */
export function readSettings(options: ClientOptions) {
  // Browsers and some worker runtimes have no `process`.
  const env: Record<string, string | undefined> = globalThis.process?.env ?? {};
  if (!isObject(options)) throw invalid('the options must be an object');
  const settings = {
    apiKey: options.apiKey || env.MEMORY_API_KEY,
    baseUrl: readBaseUrl(options.baseUrl || env.MEMORY_BASE_URL || 'http://127.0.0.1:7070'),
    timeoutMs: atLeast(1, 'timeoutMs', options.timeoutMs ?? 30_000),
    maxRetries: atLeast(0, 'maxRetries', options.maxRetries ?? 2),
    retryDelayMs: atLeast(0, 'retryDelayMs', options.retryDelayMs ?? 500),
    headers: options.headers,
    fetch:
      options.fetch ?? ((...request: Parameters<FetchFunction>) => globalThis.fetch(...request)),
    onAttempt: options.onAttempt,
  };
  // In JavaScript, a misspelled name such as `baseURL` or `api_key` would otherwise be ignored.
  // Unrelated names are accepted, because the object may also contain other settings.
  for (const name of Object.keys(options)) {
    const letters = name.toLowerCase().replace(/[^a-z]/g, '');
    const meant = Object.keys(settings).find((one) => one.toLowerCase() === letters);
    if (meant && meant !== name) throw invalid(`${name} must be written ${meant}`);
  }
  return settings;
}

/** The error message does not contain the URL, which can include a password. */
function readBaseUrl(text: string): string {
  const url = String(URL.canParse(text) && new URL(text));
  const [, base = '/v1'] = /^(https?:\/\/[^/@]+(\/[^?#]*?)??)\/*[?#]*$/.exec(url) ?? [];
  if (!base.endsWith('/v1')) return base;
  throw invalid('baseUrl must be like http://host/path, without /v1');
}

export function atLeast(min: number, name: string, value: number): number {
  if (value >= min) return value;
  throw invalid(`${name} must be at least ${min}`);
}

/** Creates the error for a request or an option that is rejected before anything is sent. */
export function invalid(message: string, cause?: unknown): InvalidRequestError {
  return new InvalidRequestError(message, { code: 'invalid_request', cause });
}

/** Returns false for null, arrays, and built-in objects such as Map. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return {}.toString.call(value) === '[object Object]';
}
