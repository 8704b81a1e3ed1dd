import { createFetch } from 'ofetch';
import type { Answer } from './answer.ts';
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
import type { FetchFunction } from './options.ts';
import { errorOfAnswer } from './refusal.ts';

/** A request as every attempt sends it, and what it takes for an answer. */
export type Outgoing = {
  name: OperationName;
  method: string;
  url: string;
  headers: Headers;
  /** Undefined for reads, and for writes that shall go without. */
  idempotencyKey: string | undefined;
  body: string | undefined;
  success: number;
  telltale: string;
  timeoutMs: number;
  signal: AbortSignal | null | undefined;
  /** Called with every failure that is followed by another attempt. */
  onFault: ((error: MemoryServiceError) => void) | undefined;
};

type Incoming = { status: number; headers: Headers; text: string };

/** What is used of ofetch. Its own types name a package that need not be there. */
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
  // ofetch asks for all of the runtime's own fetch, but only calls it, with a string.
  return createFetch({ fetch: fetch as typeof globalThis.fetch }).raw;
}

/** One attempt: data, or one of our errors. */
export async function attempt(
  transport: Transport,
  request: Outgoing,
  attempts: number,
): Promise<Answer<unknown>> {
  const facts = { attempts, idempotencyKey: request.idempotencyKey };
  const { status, headers, text } = await exchange(transport, request, facts);
  const requestId = headers.get(names.requestId) ?? undefined;
  const body = parseObject(status < 400 ? text : redact(text, request));
  if (!isSuccess(request, status, body)) {
    throw errorOfAnswer(status, headers, body, { ...facts, requestId });
  }
  const replay = headers.get(names.idempotencyStatus);
  const idempotencyStatus = replay === 'created' || replay === 'replayed' ? replay : undefined;
  return { data: body, response: { status, headers, attempts, requestId, idempotencyStatus } };
}

/** Sends the request and reads the whole body, all before the deadline. */
async function exchange(
  transport: Transport,
  request: Outgoing,
  facts: { attempts: number; idempotencyKey: string | undefined },
): Promise<Incoming> {
  const deadline = openDeadline(request.timeoutMs, request.signal);
  try {
    const response = await transport(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      // A redirect would turn a POST into a GET, or carry the data to someone else.
      redirect: 'manual',
      signal: deadline.signal,
      responseType: 'text',
      retry: false,
      ignoreResponseError: true,
    });
    return { status: response.status, headers: response.headers, text: response._data ?? '' };
  } catch (error) {
    if (request.signal?.aborted) throw new AbortError({ ...facts, cause: request.signal.reason });
    throw unanswered(request, deadline.signal.aborted, { ...facts, cause: rootOf(error) });
  } finally {
    deadline.close();
  }
}

function unanswered(request: Outgoing, late: boolean, facts: ErrorFacts): MemoryServiceError {
  const { origin } = new URL(request.url);
  return late
    ? new TimeoutError(`${origin} did not answer within ${request.timeoutMs} ms`, {
        ...facts,
        code: 'timeout',
      })
    : new ConnectionError(`no answer from ${origin}: ${reasonOf(facts.cause)}`, {
        ...facts,
        code: 'connection',
      });
}

/** ofetch's own error holds the request with its headers, the API key among them. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.name === 'FetchError' ? error.cause : error;
}

/** Node says only "fetch failed", and the reason in the cause of that. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/** Something on the way may quote our headers in its error. */
function redact(text: string, { headers }: Outgoing): string {
  const key = headers.get(names.authorization)?.replace(/^Bearer /, '');
  return key ? text.replaceAll(key, '[redacted]') : text;
}

/** Undefined for what is not JSON, or JSON without fields. */
function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Not an array or a Map, whose fields are not what it holds. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return {}.toString.call(value) === '[object Object]';
}

function isSuccess(
  { name, success, telltale }: Outgoing,
  status: number,
  body: Record<string, unknown> | undefined,
): boolean {
  // A service that says of itself that it fails has answered the question.
  if (name === 'health' && status === 503) return body?.status === 'failing';
  return status === success && (status === 204 || telltale in (body ?? {}));
}
