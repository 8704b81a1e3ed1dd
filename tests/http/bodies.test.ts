import { describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { askRaw, bodyOf, expectError, expectInvalid, newUser } from '../support/http.ts';
import { withProject } from '../support/server.ts';
import { exchange, head } from '../support/socket.ts';
import { writesWithBody } from '../support/writes.ts';

const server = await withProject();

const path = '/v1/memories';

const saved = () => JSON.stringify({ userId: newUser(), content: 'x' });

const writes = writesWithBody.map(([route]) => route.split(' ') as [method: string, path: string]);

/** Replaces `:id` with the id of a new memory. */
async function reachable(path: string): Promise<string> {
  if (!path.includes(':id')) return path;
  const answer = await askRaw(server, 'POST', '/v1/memories', saved());
  return path.replace(':id', bodyOf<{ id: string }>(answer, 201).id);
}

describe('the Content-Type of a body', () => {
  test.each(writes)('is required: %s %s without one gets a 415', async (method, path) => {
    const lines = head(server, method, await reachable(path), 'Content-Length: 2');
    expectError(await exchange(server, lines, '{}'), 415, 'unsupported_media_type');
  });

  const sendAs = (type: string) => askRaw(server, 'POST', path, saved(), { 'content-type': type });

  test.each([
    ...['text/plain', 'text/json', 'application/jsonx', 'application/ld+json', '*/*'],
    ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
    ...['application/json; charset=latin1', 'application/json; charset=utf-16'],
    'application/json, text/plain',
  ])('is rejected with 415: %s', async (type) => {
    expectError(await sendAs(type), 415, 'unsupported_media_type');
  });

  test.each(['gzip', 'deflate', 'br', 'GZIP', 'identity, gzip'])(
    'is rejected with 415 together with Content-Encoding: %s',
    async (encoding) => {
      const body = new Uint8Array(gzipSync(saved()));
      const answer = await askRaw(server, 'POST', path, body, { 'content-encoding': encoding });
      expectError(answer, 415, 'unsupported_media_type');
    },
  );

  test.each([
    ...['APPLICATION/JSON', 'application/json;charset=utf-8'],
    ...['application/json; charset=UTF-8', 'application/json; charset="utf-8"'],
  ])('is accepted: %s', async (type) => {
    expect((await sendAs(type)).status).toBe(201);
  });
});

const saving = '{"userId":"u","content":"x"';
const malformed: (string | Uint8Array<ArrayBuffer>)[] = [
  ...['', ' \n', saving, `${saving},}`, `${saving}}{}`, 'userId=u&content=x'],
  ...["{'userId':'u','content':'x'}", '{"userId":"u",/**/"content":"x"}', `\ufeff${saving}}`],
  ...['{"userId":"u","content":"a\0b"}', `${saving},"metadata":{"n":NaN}}`],
  // An overlong encoding, a surrogate, a truncated character, one beyond Unicode, and Latin-1.
  ...[quoted(0xc0, 0x80), quoted(0xed, 0xa0, 0x80), quoted(0xe2, 0x82)],
  ...[quoted(0xf4, 0x90, 0x80, 0x80), quoted(0xe9)],
  new Uint8Array(Buffer.from('{"userId":"u"}', 'utf16le')),
];

/** Returns the JSON of a save request whose content consists of these bytes. */
function quoted(...bytes: number[]): Uint8Array<ArrayBuffer> {
  const [before, after] = ['{"userId":"u","content":"', '"}'].map((text) => Buffer.from(text));
  return new Uint8Array([...(before ?? []), ...bytes, ...(after ?? [])]);
}

describe('malformed JSON', () => {
  test.each(writes)('gets a 400: %s %s', async (method, path) => {
    const route = await reachable(path);
    for (const body of malformed) expectInvalid(await askRaw(server, method, route, body));
  });

  test('is not repeated in the message, which says if the body is empty', async () => {
    const empty = await askRaw(server, 'POST', path, '');
    expect(empty.text).toContain('the request body is empty; send JSON');
    for (const body of [' ', '{"canary']) {
      const { message } = Object((await askRaw(server, 'POST', path, body)).body);
      expect(message).toBe('the request body is not valid JSON');
    }
  });
});
