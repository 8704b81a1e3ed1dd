import { describe, expect, test } from 'bun:test';
import { operations } from '../../sdk/contract/operations.ts';
import * as sdk from '../../sdk/index.ts';
import { type SeenRequest, startFaultServer } from '../support/fault-server.ts';
import { apiKey, clientOf } from './client-of.ts';
import { readVectors, scriptedReply, type Vector, vectorFiles } from './vectors.ts';

/* sdk/python/tests/test_vectors.py does the same for the Python SDK. */

for (const file of vectorFiles) {
  describe(file, () => {
    for (const vector of readVectors(file)) test(vector.name, () => check(vector));
  });
}

test('every operation of the contract has a vector', () => {
  const methods = readVectors('operations').map(({ call }) => call.method);
  expect(methods.sort()).toEqual(Object.keys(operations).sort());
});

async function check(vector: Vector): Promise<void> {
  const [first, ...rest] = vector.server.map(scriptedReply);
  if (first === undefined) throw new Error('a server needs a reply');
  using server = startFaultServer(first, ...rest);
  const startedAt = performance.now();
  const { result, items, statuses, error } = await run(vector, server);
  const ms = performance.now() - startedAt;
  checkOutcome(vector, result, error);
  checkRequests(vector, server.requests);
  if (vector.items) expect(items).toEqual(vector.items);
  if (vector.statuses) expect(statuses).toEqual(vector.statuses);
  expect(ms).toBeGreaterThanOrEqual(vector.minMs ?? 0);
  expect(ms).toBeLessThan(vector.maxMs ?? 60_000);
}

type Outcome = { result: unknown; items: unknown[]; statuses: string[]; error: unknown };

async function run({ client: options, call }: Vector, server: { url: string }): Promise<Outcome> {
  const outcome: Outcome = { result: undefined, items: [], statuses: [], error: undefined };
  try {
    const client = clientOf(server, options);
    const onStatus = ({ status }: sdk.IngestStatus) => outcome.statuses.push(status);
    const returned = invoke(client, call, { ...call.options, onStatus });
    if (!call.iterate) outcome.result = await returned;
    else {
      for await (const { id, userId } of returned as sdk.PagePromise & AsyncIterable<sdk.User>) {
        outcome.items.push(id ?? userId);
      }
    }
  } catch (error) {
    outcome.error = error;
  }
  return outcome;
}

function invoke(client: sdk.MemoryClient, call: Vector['call'], options: object) {
  const { method, id } = call;
  const request = method === 'statusMany' ? call.arguments?.memoryIds : call.arguments;
  const args = [id, request].filter((one) => one !== undefined);
  // The compiler does not know which methods the vectors name.
  type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;
  const [group, name] = method.includes('.') ? [client.ingest, method.slice(7)] : [client, method];
  return (group as unknown as Methods)[name]?.(...args, options);
}

function checkOutcome(vector: Vector, result: unknown, error: unknown): void {
  if (vector.error === undefined) {
    expect(error).toBeUndefined();
    const last = vector.server.at(-1);
    const json = last && 'json' in last ? last.json : undefined;
    if (!vector.call.iterate) expect(result).toEqual(json);
    return;
  }
  const { class: name, messageStart = '', ...fields } = vector.error;
  expect(error).toBeInstanceOf(sdk.MemoryServiceError);
  if (!(error instanceof sdk.MemoryServiceError)) return;
  if (name !== undefined) expect(error.name).toBe(name);
  expect(error.message).toStartWith(messageStart);
  for (const [key, value] of Object.entries(fields)) {
    expect(Reflect.get(error, key)).toEqual(value ?? undefined);
  }
}

function checkRequests(vector: Vector, seen: SeenRequest[]): void {
  const { attempts = vector.requests?.length ?? vector.error?.attempts } = vector;
  if (attempts !== undefined) expect(seen.length).toBe(Number(attempts));
  for (const [index, { method, path, ...expected }] of vector.requests?.entries() ?? []) {
    const request = seen[index];
    expect(request).toMatchObject({ method, path });
    const hasBody = ['POST', 'PATCH'].includes(method);
    const { body = hasBody ? vector.call.arguments : undefined } = expected;
    expect(request?.body === '' ? undefined : JSON.parse(request?.body ?? '')).toEqual(body);
    const headers = {
      Authorization: vector.call.method === 'health' ? null : `Bearer ${apiKey}`,
      'Content-Type': hasBody ? 'application/json' : null,
      'Idempotency-Key': method === 'GET' ? null : expect.stringMatching(/./),
      ...expected.headers,
    };
    const names = Object.keys(headers);
    const found = names.map((name) => [name, request?.headers.get(name) ?? null]);
    expect(Object.fromEntries(found)).toEqual(headers);
  }
  // All attempts of a call send the same key and the same body.
  const isOneCall = !vector.call.iterate && vector.call.method !== 'waitUntilComplete';
  const sent = seen.map(({ headers, body }) => `${headers.get('Idempotency-Key')} ${body}`);
  if (isOneCall) expect(new Set(sent).size).toBeLessThanOrEqual(1);
}
