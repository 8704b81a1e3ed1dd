import { createFetch } from 'ofetch';
import type { ApiResponse } from './api-promise.ts';
import type { IdempotencyStatus } from './contract/headers.ts';
import * as names from './contract/headers.ts';
import type { OperationName } from './contract/operations.ts';
import { openDeadline } from './deadline.ts';
import { AbortError, ConnectionError, type MemoryServiceError, TimeoutError } from './errors.ts';
import type { FetchFunction } from './options.ts';
import { errorFromResponse } from './response-error.ts';

/** A request, built once per call and shared by all attempts of the call. */
export type ApiRequest = {
  operation: OperationName;
  method: string;
  url: string;
  headers: Headers;
  /** Undefined for reads and for writes without a key. */
  idempotencyKey: string | undefined;
  body: string | undefined;
  /** The field by which a response is recognized; undefined if it has no body. */
  field: string | undefined;
  timeoutMs: number;
  signal?: AbortSignal | null | undefined;
  /** Called with every failure that is retried. */
  onRetry?: ((error: MemoryServiceError) => void) | undefined;
};

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

export function aborted({ idempotencyKey, signal }: ApiRequest, attempts: number): AbortError {
  const cause = signal?.reason;
  return new AbortError('the call was aborted', {
    code: 'aborted',
    attempts,
    idempotencyKey,
    cause,
  });
}

/** Sends the request once, and reads the whole response before the deadline. */
export async function send(
  fetch: FetchFunction,
  request: ApiRequest,
  attempts: number,
): Promise<ApiResponse<unknown>> {
  const { operation, field, url, method, body = null, signal, timeoutMs, idempotencyKey } = request;
  const facts = { attempts, idempotencyKey };
  // ofetch's type requires the full `fetch` of the runtime, but ofetch calls it only with a string.
  const transport: Transport = createFetch({ fetch: fetch as typeof globalThis.fetch }).raw;
  const deadline = openDeadline(timeoutMs, signal);
  const response = await transport(url, {
    method,
    body,
    headers: request.headers,
    // A redirect could turn a POST into a GET, or send the data to another host.
    redirect: 'manual',
    signal: deadline.signal,
    responseType: 'text',
    retry: false,
    ignoreResponseError: true,
  })
    .catch((error) => {
      if (signal?.aborted) throw aborted(request, attempts);
      // ofetch's own error contains the request's headers and API key.
      const cause = error?.name === 'FetchError' ? error.cause : error;
      const isLate = deadline.signal.aborted;
      const NoResponseError = isLate ? TimeoutError : ConnectionError;
      const reason = isLate ? ` within ${timeoutMs} ms` : `: ${reasonOf(cause)}`;
      throw new NoResponseError(`no response from ${new URL(url).origin}${reason}`, {
        ...facts,
        code: isLate ? 'timeout' : 'connection',
        cause,
      });
    })
    .finally(deadline.close);
  const { status, headers, _data: text = '' } = response;
  const requestId = headers.get(names.requestId) ?? undefined;
  const data = parse(status < 400 ? text : redact(text, request));
  const fields: Record<string, unknown> = Object(data);
  const isSuccess =
    operation === 'health' && status === 503
      ? // A 503 with a health body is a valid response to a health check.
        fields.status === 'failing'
      : // Except for a delete, any 2xx status is accepted, because a save responds with 200 or 201.
        status < 300 && (field ? field in fields : status === 204);
  if (!isSuccess) throw errorFromResponse(status, headers, fields, { ...facts, requestId });
  const idempotencyStatus = (headers.get(names.idempotencyStatus) ?? undefined) as
    | IdempotencyStatus
    | undefined;
  return { data, response: { status, headers, attempts, requestId, idempotencyStatus } };
}

/** Returns the innermost message. Node's own message is only "fetch failed". */
function reasonOf(error: unknown): string {
  const { cause, message, code } = Object(error);
  return cause ? reasonOf(cause) : String(message || (code ?? error)).trim();
}

/** Removes the API key: a proxy's error page may contain the request's headers. */
function redact(text: string, { headers }: ApiRequest): string {
  const key = headers.get(names.authorization)?.replace('Bearer ', '');
  return key ? text.replaceAll(key, '[redacted]') : text;
}

/** Returns undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
