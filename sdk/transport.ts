import { createFetch } from 'ofetch';
import type { ApiResponse } from './api-promise.ts';
import { headers as names } from './contract/headers.ts';
import type { OperationName } from './contract/operations.ts';
import { openDeadline } from './deadline.ts';
import {
  AbortError,
  ConnectionError,
  type ErrorFacts,
  type MemoryServiceError,
  TimeoutError,
} from './errors.ts';
import { type FetchFunction, isObject } from './options.ts';
import { errorFromResponse } from './response-error.ts';

/** A request, built once per call and shared by all attempts of the call. */
export type ApiRequest = {
  name: OperationName;
  method: string;
  url: string;
  headers: Headers;
  /** Undefined for reads and for writes without a key. */
  idempotencyKey: string | undefined;
  body: string | undefined;
  requiredField: string;
  timeoutMs: number;
  signal: AbortSignal | null | undefined;
  /** Called with every failure that is retried. */
  onRetry: ((error: MemoryServiceError) => void) | undefined;
};

type RawResponse = { status: number; headers: Headers; text: string };

/** The part of ofetch that the SDK uses. ofetch's types import undici, which may be missing. */
type Transport = (
  url: string,
  options: Omit<RequestInit, 'body'> & {
    body: string | null;
    responseType: 'text';
    retry: false;
    ignoreResponseError: true;
  },
) => Promise<{ status: number; headers: Headers; _data?: string }>;

export function openTransport(fetch: FetchFunction): Transport {
  // ofetch's type requires the full `fetch` of the runtime, but ofetch calls it only with a string.
  return createFetch({ fetch: fetch as typeof globalThis.fetch }).raw;
}

/** Runs one attempt. Throws only errors of this SDK. */
export async function attempt(
  transport: Transport,
  request: ApiRequest,
  attempts: number,
): Promise<ApiResponse<unknown>> {
  const facts = { attempts, idempotencyKey: request.idempotencyKey };
  const { status, headers, text } = await exchange(transport, request, facts);
  const requestId = headers.get(names.requestId) ?? undefined;
  const body = parseObject(status < 400 ? text : redact(text, request));
  if (!isSuccess(request, status, body)) {
    throw errorFromResponse(status, headers, body, { ...facts, requestId });
  }
  const replay = headers.get(names.idempotencyStatus);
  const idempotencyStatus = replay === 'created' || replay === 'replayed' ? replay : undefined;
  return { data: body, response: { status, headers, attempts, requestId, idempotencyStatus } };
}

/** Sends the request and reads the whole body before the deadline. */
async function exchange(
  transport: Transport,
  request: ApiRequest,
  facts: { attempts: number; idempotencyKey: string | undefined },
): Promise<RawResponse> {
  const deadline = openDeadline(request.timeoutMs, request.signal);
  try {
    const response = await transport(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      // A redirect could turn a POST into a GET, or send the data to another host.
      redirect: 'manual',
      signal: deadline.signal,
      responseType: 'text',
      retry: false,
      ignoreResponseError: true,
    });
    return { status: response.status, headers: response.headers, text: response._data ?? '' };
  } catch (error) {
    if (request.signal?.aborted) throw new AbortError({ ...facts, cause: request.signal.reason });
    throw noResponse(request, deadline.signal.aborted, { ...facts, cause: rootOf(error) });
  } finally {
    deadline.close();
  }
}

function noResponse(request: ApiRequest, late: boolean, facts: ErrorFacts): MemoryServiceError {
  const { origin } = new URL(request.url);
  return late
    ? new TimeoutError(`${origin} did not respond within ${request.timeoutMs} ms`, {
        ...facts,
        code: 'timeout',
      })
    : new ConnectionError(`no response from ${origin}: ${reasonOf(facts.cause)}`, {
        ...facts,
        code: 'connection',
      });
}

/** Unwraps an ofetch error, because the wrapper contains the request's headers and API key. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.name === 'FetchError' ? error.cause : error;
}

/** Returns the innermost message. Node's own message is only "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return error.message.trim() || ('code' in error ? String(error.code) : error.name);
}

/** Removes the API key: a proxy's error page may contain the request's headers. */
function redact(text: string, { headers }: ApiRequest): string {
  const key = headers.get(names.authorization)?.replace(/^Bearer /, '');
  return key ? text.replaceAll(key, '[redacted]') : text;
}

/** Returns undefined if the text is not a JSON object. */
function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isSuccess(
  { name, requiredField }: ApiRequest,
  status: number,
  body: Record<string, unknown> | undefined,
): boolean {
  // A 503 with a health body is a valid response to a health check.
  if (name === 'health' && status === 503) return body?.status === 'failing';
  // Except for a delete, any 2xx status is accepted, because a save responds with 200 or 201.
  return status < 300 && (name === 'delete' ? status === 204 : requiredField in (body ?? {}));
}
