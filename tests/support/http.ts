import { expect } from 'bun:test';
import type { ErrorCode } from '../../sdk/contract/errors.ts';
import type { Accepted, BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { Memory, SavedMemory } from '../../sdk/contract/memory.ts';
import type { Page } from '../../sdk/contract/page.ts';
import type { IngestStatus } from '../../sdk/contract/status.ts';
import type { Imported } from '../../sdk/contract/transfer.ts';
import { send, type TestServer } from './server.ts';
import { until } from './until.ts';

/** A complete response. `body` is the parsed JSON, or undefined if there is no body. */
export type Answer = { status: number; headers: Headers; text: string; body: unknown };

type Headed = Record<string, string>;

export async function ask(
  server: TestServer,
  method: string,
  path: string,
  options: { body?: unknown; headers?: Headed } = {},
): Promise<Answer> {
  return readAnswer(await send(server, method, path, options));
}

/** Like `ask`, but sends the body unmodified. The Content-Type is JSON unless `headers` sets it. */
export async function askRaw(
  server: TestServer,
  method: string,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Headed = {},
): Promise<Answer> {
  const authorization = `Bearer ${server.key}`;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const all = { authorization, 'content-type': 'application/json', ...headers };
  return readAnswer(await fetch(server.url + path, { method, headers: all, body: bytes }));
}

/** Parses a response and checks the headers that every one has, but the 413 sent by Bun itself. */
export async function readAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const isBuns = status === 413 && text === '';
  if (!isBuns) expectUsualHeaders(headers);
  if (text !== '') expect(headers.get('content-type')).toBe('application/json');
  return { status, headers, text, body: text === '' ? undefined : JSON.parse(text) };
}

function expectUsualHeaders(headers: Headers): void {
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
}

/** Expects an error in the common format, with details only if `field` is given. */
export function expectError(
  answer: Answer | null,
  status: number,
  code: ErrorCode,
  field?: string,
): void {
  if (answer === null) throw new Error('the connection closed without a response');
  const message = expect.stringMatching(/\S/);
  const shape = { error: code, message, requestId: answer.headers.get('x-request-id') };
  const named = { field, message };
  const details = expect.arrayContaining([named]);
  expect(answer.body).toEqual(field === undefined ? shape : { ...shape, details });
  expect(answer.status).toBe(status);
}

export function expectInvalid(answer: Answer | null, field?: string): void {
  expectError(answer, 400, 'invalid_request', field);
}

/** Checks the status of a response and returns its body. */
export function bodyOf<T>(answer: Answer, status: number): T {
  expect({ status: answer.status, text: answer.text }).toEqual({ status, text: answer.text });
  return answer.body as T;
}

let users = 0;

/** Returns a user id that is unique in this process. */
export function newUser(): string {
  users += 1;
  return `user-${users}`;
}

export async function save(server: TestServer, userId: string, content = 'a memory') {
  const answer = await ask(server, 'POST', '/v1/memories', { body: { userId, content } });
  return bodyOf<SavedMemory>(answer, 201);
}

/** Ingests a record, in a batch of its own if the path is that of batches. */
export async function ingest(server: TestServer, path: string, record: object) {
  const isBatch = path.endsWith('/batch');
  const body = isBatch ? { items: [record] } : record;
  const answer = await ask(server, 'POST', path, { body });
  if (!isBatch) return bodyOf<Accepted>(answer, 202);
  const { items, failed } = bodyOf<BatchAccepted>(answer, 202);
  expect(failed).toEqual([]);
  return { ...items[0] } as Pick<Accepted, 'memoryId' | 'status'>;
}

export async function importAll(server: TestServer, items: unknown[]) {
  return bodyOf<Imported>(await ask(server, 'POST', '/v1/import', { body: { items } }), 200);
}

export async function getMemory(server: TestServer, id: string) {
  return bodyOf<Memory>(await ask(server, 'GET', `/v1/memories/${id}`), 200);
}

export async function getStatus(server: TestServer, id: string) {
  return bodyOf<IngestStatus>(await ask(server, 'GET', `/v1/memories/${id}/status`), 200);
}

/** `query` is the rest of the URL's query, for example `limit=2&order=asc`. */
export async function getPage(server: TestServer, userId: string, query = 'limit=100') {
  const path = `/v1/memories?userId=${encodeURIComponent(userId)}&${query}`;
  return bodyOf<Page>(await ask(server, 'GET', path), 200);
}

export async function whenComplete(
  server: TestServer,
  id: string,
  timeoutMs?: number,
): Promise<Memory> {
  const fits = ({ status }: Memory) => status === 'complete';
  return until(() => getMemory(server, id), { fits, ...(timeoutMs && { timeoutMs }) });
}

/** Begins to send the body of a save. The result sends the rest, and returns the status. */
export async function beginSave(server: TestServer, userId: string) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const write = (text: string) => writer.write(new TextEncoder().encode(text));
  const sent = fetch(`${server.url}/v1/memories`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: readable,
    duplex: 'half',
  });
  await write(`{"userId":"${userId}",`);
  return async (content: string) => {
    await write(`"content":"${content}"}`);
    await writer.close();
    return (await sent).status;
  };
}
