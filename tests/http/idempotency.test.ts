import { describe, expect, test } from 'bun:test';
import { ask, askRaw, expectError, expectInvalid, getPage, newUser } from '../support/http.ts';
import { rowsOf } from '../support/rows.ts';
import { withProject } from '../support/server.ts';
import { exchange, head } from '../support/socket.ts';
import {
  completeMemories,
  essence,
  markOf,
  prepare,
  saveOf,
  sendKeyed,
  writes,
  writesWithBody,
} from '../support/writes.ts';

const server = await withProject();

function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, reordered(inner)]));
}

describe.each(writes)('%s with an idempotency key', (_, make) => {
  test('has one effect and equal responses with twenty concurrent duplicates', async () => {
    const { userId, request } = await prepare(server, make);
    const twin = () => sendKeyed(server, request, userId);
    const answers = await Promise.all(Array.from({ length: 20 }, twin));
    expect(answers.filter((answer) => markOf(answer) === 'created')).toHaveLength(1);
    expect(answers.filter((answer) => markOf(answer) === 'replayed')).toHaveLength(19);
    expect(new Set(answers.map((answer) => JSON.stringify(essence(answer)))).size).toBe(1);
    const alone = await prepare(server, make);
    await sendKeyed(server, alone.request, alone.userId);
    const contents = async (of: string) =>
      (await completeMemories(server, of)).map(({ content }) => content);
    expect(await contents(userId)).toEqual(await contents(alone.userId));
  });

  test('is rejected if the key is malformed', async () => {
    const { userId, request } = await prepare(server, make);
    const before = await completeMemories(server, userId);
    expectInvalid(await sendKeyed(server, request, 'k'.repeat(256)), 'Idempotency-Key');
    expect(await completeMemories(server, userId)).toEqual(before);
  });

  test('is replayed for another API key of the project, and not in another project', async () => {
    const { userId, request } = await prepare(server, make);
    const withKey = async (project: string) => {
      return { authorization: `Bearer ${await server.createKey(project)}` };
    };
    const theirs = saveOf(userId, 'theirs');
    const elsewhere = await withKey('other');
    expect(markOf(await sendKeyed(server, theirs, userId, elsewhere))).toBe('created');
    const first = await sendKeyed(server, request, userId);
    expect(markOf(first)).toBe('created');
    const again = await sendKeyed(server, theirs, userId, elsewhere);
    expect([markOf(again), again.status]).toEqual(['replayed', 201]);
    const same = await sendKeyed(server, request, userId, await withKey('default'));
    expect(markOf(same)).toBe('replayed');
    expect(essence(same)).toEqual(essence(first));
  });
});

describe.each(writesWithBody)('%s', (_, make) => {
  test('is the same request if only the order of the JSON keys differs', async () => {
    const { userId, request } = await prepare(server, make);
    const first = await sendKeyed(server, request, userId);
    const text = JSON.stringify(reordered(request.body), null, 2);
    expect(text).not.toBe(JSON.stringify(request.body, null, 2));
    const headers = { 'idempotency-key': userId };
    const again = await askRaw(server, request.method, request.path, text, headers);
    expect(markOf(again)).toBe('replayed');
    expect(essence(again)).toEqual(essence(first));
  });
});

test('a read ignores its idempotency key, and a write without a key has no Idempotency-Status', async () => {
  const userId = newUser();
  const headers = { 'idempotency-key': userId };
  const read = await ask(server, 'GET', `/v1/memories?userId=${userId}`, { headers });
  const { method, path, body } = saveOf(userId);
  const write = await ask(server, method, path, body ? { body } : {});
  expect([markOf(read), markOf(write)]).toEqual([null, null]);
  expect(markOf(await sendKeyed(server, saveOf(userId), userId))).toBe('created');
});

describe('Idempotency-Key', () => {
  const every = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('');
  test.each([
    ['1 character', 'k'],
    ['255 characters', 'k'.repeat(255)],
    ['every visible ASCII character', every],
    ['letters of another case', every.toLowerCase()],
  ])('can have %s', async (_, key) => {
    const request = saveOf(newUser());
    expect(markOf(await sendKeyed(server, request, key))).toBe('created');
    expect(markOf(await sendKeyed(server, request, key))).toBe('replayed');
  });

  const bad: [name: string, bytes: string][] = [
    ['no characters', ''],
    ['256 characters', 'k'.repeat(256)],
    ['a space inside', 'two words'],
    ['a tab inside', 'two\twords'],
    ['UTF-8', 'kéy'],
    ['DEL', 'k\x7f'],
  ];
  test.each(bad)('returns 400 with %s', async (_, bytes) => {
    const userId = newUser();
    const body = JSON.stringify({ userId, content: 'x' });
    const json = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    const lines = head(server, 'POST', '/v1/memories', ...json, `Idempotency-Key: ${bytes}`);
    const answer = await exchange(server, lines, body);
    // Bun's HTTP parser rejects some requests itself, with an empty body.
    if (answer?.text !== '') expectInvalid(answer, 'Idempotency-Key');
    expect(answer?.status).toBe(400);
    expect((await getPage(server, userId)).items).toEqual([]);
  });
});

test('a number outside the range of a double differs from null', async () => {
  const userId = newUser();
  const send = (value: string) => {
    const event = `"type":"event","data":{"name":"e","properties":{"n":${value}}}`;
    const body = `{"items":[{"userId":"${userId}",${event}}]}`;
    return askRaw(server, 'POST', '/v1/ingest/batch', body, { 'idempotency-key': userId });
  };
  expect((await send('1e400')).body).toMatchObject({ accepted: 0, failedCount: 1 });
  const alike = ['{"tooLarge":"Infinity"}', '{"a":0,"z":"Infinity"}', '"Infinity"'];
  for (const other of ['null', '-1e400', ...alike]) {
    expectError(await send(other), 400, 'idempotency_key_reused');
  }
  expect(markOf(await send('1e999'))).toBe('replayed');
});

// Fingerprints are stored for days, so a new version of the service must compute the same ones.
test('an upgrade does not change the fingerprint of a request', async () => {
  const save = saveOf('u', 'café', { metadata: { b: [1, true, null], a: 'x' } });
  const record = { userId: 'u', type: 'document', data: { text: 'T' } };
  const batch = { method: 'POST', path: '/v1/ingest/batch', body: { items: [record, record] } };
  expect((await sendKeyed(server, save, 'printed-save')).status).toBe(201);
  expect((await sendKeyed(server, batch, 'printed-batch')).status).toBe(202);
  const sql = "SELECT fingerprint FROM idempotency_keys WHERE key LIKE 'printed-%' ORDER BY key";
  expect(await rowsOf(server.databaseUrl, sql)).toEqual([
    { fingerprint: 'PHYQYeU3zU5ltIoWZbPQrVtChhBSBwqhFpyDPP_wWMw' },
    { fingerprint: 'aN74knXywHDfk_X1KCpoNOdHo_syMWE8byGNnRF14Qk' },
  ]);
});
