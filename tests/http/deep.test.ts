import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, askRaw, expectInvalid, newUser } from '../support/http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const levels = 100_000;
const deepList = '['.repeat(levels) + ']'.repeat(levels);
const deepObject = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const unclosed = '['.repeat(levels);

/** With and without a key, because a key has the body read once more. */
const idempotency: [name: string, headers: () => Record<string, string>][] = [
  ['without a key', () => ({})],
  ['with an Idempotency-Key', () => ({ 'idempotency-key': newUser() })],
];

describe.each(idempotency)('JSON of 100,000 levels %s', (_, headers) => {
  function post(path: string, body: string): Promise<Answer> {
    return askRaw(server, 'POST', path, body, headers());
  }

  test.each([deepList, deepObject, unclosed])('400 as a body', async (body) => {
    const answer = await post('/v1/memories', body);
    expect(answer.status).toBe(400);
    expect((await post('/v1/ingest/batch', body)).status).toBe(400);
  });

  test.each([deepList, deepObject])('400 as metadata', async (metadata) => {
    const body = `{"userId":"u","content":"x","metadata":{"k":${metadata}}}`;
    expectInvalid(await post('/v1/memories', body), 'metadata');
  });

  test.each([deepList, deepObject])('400 as the property of an event', async (property) => {
    const body = `{"userId":"u","type":"event","data":{"name":"n","k":${property}}}`;
    expectInvalid(await post('/v1/ingest', body), 'data');
  });

  test.each([deepList, deepObject])('an item of a batch fails alone', async (item) => {
    const good = '{"userId":"u","type":"event","data":{"name":"n"}}';
    const answer = await post('/v1/ingest/batch', `{"items":[${item},${good}]}`);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ accepted: 1, failedCount: 1, failed: [{ index: 0 }] });
  });
});
