import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ErrorBody } from '../../sdk/contract/errors.ts';
import { ask, expectError, getMemory, getPage, ingest, save } from '../support/http.ts';
import { anyCodePoint, withValue } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';
import { writesWithBody } from '../support/writes.ts';

/* A failed property prints its seed and path. To reproduce the failure, add both to `runs`. */
const runs = { numRuns: 50 };

const server = await withProject();
const { id } = await save(server, 'fuzz');

/** Expects a success or a documented 400, never an internal error. */
async function expectHandled(request: ReturnType<typeof ask>): Promise<void> {
  const answer = await request;
  if (answer.status < 300) return;
  expect(answer.status).toBe(400);
  const { error, details } = answer.body as ErrorBody;
  expectError(answer, 400, error, details?.[0]?.field);
}

/** Returns the dotted paths of all fields of a value, at every level. */
function pathsOf(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    return [`${prefix}${key}`, ...pathsOf(inner, `${prefix}${key}.`)];
  });
}

const keyed = fc.option(fc.stringMatching(/^[ab]{1,5}$/));

describe.each(writesWithBody)('%s', (_, make) => {
  const { method, path, body = {} } = make('fuzz', ':id');

  async function sendBody(sent: unknown, key: string | null): Promise<void> {
    const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key };
    await expectHandled(ask(server, method, path.replace(':id', id), { body: sent, headers }));
  }

  test('accepts any JSON or rejects it with a 400', async () => {
    await fc.assert(fc.asyncProperty(fc.jsonValue(), keyed, sendBody), runs);
  });

  test('accepts a valid body with any value in one field or rejects it with a 400', async () => {
    const field = fc.constantFrom(...pathsOf(body));
    const value = fc.oneof(fc.jsonValue(), fc.string({ unit: anyCodePoint }), fc.anything());
    const changed = fc.tuple(field, value).map(([where, what]) => {
      return withValue(body, where, JSON.parse(JSON.stringify(what, jsonOnly) ?? 'null'));
    });
    await fc.assert(fc.asyncProperty(changed, keyed, sendBody), runs);
  });
});

/** Any string that can be stored, which is well-formed and does not contain NUL. */
const text = fc
  .string({ unit: anyCodePoint, minLength: 1, maxLength: 300 })
  .filter((value) => value.isWellFormed() && !value.includes('\0'));

const queries = [
  ...['/v1/memories', '/v1/memories/search', '/v1/export', '/v1/users'],
  ...['/v1/memories/:id', '/v1/memories/:id/status'],
];
const names = [
  ...['userId', 'limit', 'cursor', 'order', 'type', 'source', 'externalId', 'query', 'mode'],
  ...['from', 'to', 'metadata[a]', 'metadata[]', '__proto__', 'nope', ''],
];

test.each(queries)('GET %s accepts any query or rejects it with a 400', async (path) => {
  const value = fc.oneof(fc.constantFrom('fuzz', '10', 'asc', '2026-01-01'), text);
  const query = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(query, async (pairs) => {
      const search = new URLSearchParams(pairs);
      await expectHandled(ask(server, 'GET', `${path.replace(':id', id)}?${search}`));
    }),
    runs,
  );
});

function jsonOnly(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

test('every code point that can be stored is returned unchanged', async () => {
  const points = Array.from({ length: 0x10ffff }, (_, index) => index + 1);
  const storable = points.filter((point) => point < 0xd800 || point > 0xdfff);
  for (let begin = 0; begin < storable.length; begin += 20_000) {
    const characters = storable.slice(begin, begin + 20_000).map((n) => String.fromCodePoint(n));
    const [text, key] = [characters.join(''), characters.slice(0, 200).join('')];
    const body = { userId: key, content: text, metadata: { [`k${key}`]: key } };
    const saved = await ask(server, 'POST', '/v1/memories', { body });
    expect(saved.body).toMatchObject(body);
    expect(await getMemory(server, Object(saved.body).id)).toMatchObject(body);
    const { content, ...fields } = { ...body, source: key, externalId: key };
    const record = { ...fields, data: { text: content } };
    const { memoryId } = await ingest(server, '/v1/ingest/document', record);
    expect(await getMemory(server, memoryId)).toMatchObject({ ...fields, content });
    const { items } = await getPage(server, key);
    expect(items).toMatchObject([{ content }, { content }]);
  }
});
