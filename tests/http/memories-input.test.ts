import { beforeAll, describe, expect, test } from 'bun:test';
import type { ErrorBody } from '../../sdk/contract/errors.ts';
import { ask, askRaw, expectInvalid, getMemory, getPage, newUser, save } from '../support/http.ts';
import { badMetadata, badTexts } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

const notObjects: [name: string, body: unknown][] = [
  ['null', null],
  ['a string', 'x'],
  ['a number', 1],
  ['a boolean', true],
  ['a list', [{}]],
];
const absent: [name: string, value: unknown] = ['left out', undefined];

const noDays = ['2026-02-30', '2026-13-01', '2026-00-01'];
const notTimes = ['', 'today', ...noDays, '2026-05-08T10:00:00', 1.7e12, true, [], {}];

describe('POST /v1/memories', () => {
  const base = { userId: 'refused', content: 'x' };
  const post = (body: unknown) => ask(server, 'POST', '/v1/memories', { body });

  test.each(notObjects)('returns 400 if the body is %s', async (_, body) => {
    expectInvalid(await post(body), '');
  });

  test.each([absent, ...badTexts(256)])('returns 400 if userId is %s', async (_, userId) => {
    expectInvalid(await post({ ...base, userId }), 'userId');
  });

  test.each([absent, ...badTexts(65_536)])('returns 400 if content is %s', async (_, content) => {
    expectInvalid(await post({ ...base, content }), 'content');
  });

  test.each(['source', 'externalId'])('returns 400 if %s is not a valid name', async (field) => {
    for (const [, name] of badTexts(256).filter(([, name]) => name !== null)) {
      expectInvalid(await post({ ...base, [field]: name }), field);
    }
  });

  test.each(['occurredAt', 'expiresAt'])('returns 400 if %s is not a time', async (field) => {
    for (const time of notTimes) {
      expectInvalid(await post({ ...base, [field]: time }), field);
    }
  });

  test.each(badMetadata)('returns 400 if metadata is %s', async (_, metadata) => {
    expectInvalid(await post({ ...base, metadata }), 'metadata');
  });

  test.each(['id', 'memoryId', 'type', 'version', 'status', 'createdAt', '', 'USERID'])(
    'returns 400 for the unknown field "%s"',
    async (field) => expectInvalid(await post({ ...base, [field]: 'x' }), field),
  );

  test('returns 400 for the unknown field __proto__', async () => {
    expectInvalid(await post({ ...base, ['__proto__']: { userId: 'x' } }), '__proto__');
  });

  test('returns 400 for a number outside the range of a double', async () => {
    const body = `{"userId":"${newUser()}","content":"x","metadata":{"n":1e400}}`;
    expectInvalid(await askRaw(server, 'POST', '/v1/memories', body), 'metadata');
  });

  test('lists every invalid field, with the first one in the message', async () => {
    const answer = await post({ content: '', metadata: [], more: 1 });
    for (const field of ['userId', 'content', 'metadata', 'more']) expectInvalid(answer, field);
    const { message, details } = answer.body as ErrorBody;
    expect(details).toHaveLength(4);
    expect(message).toBe(`${details?.[0]?.field}: ${details?.[0]?.message}`);
  });

  test('stores nothing of a rejected request', async () => {
    expect((await getPage(server, base.userId)).items).toEqual([]);
  });
});

describe('PATCH /v1/memories/:id', () => {
  let id: string;
  beforeAll(async () => {
    ({ id } = await save(server, newUser(), 'unchanged'));
  });
  const patch = (body: unknown) => ask(server, 'PATCH', `/v1/memories/${id}`, { body });

  test.each(notObjects)('returns 400 if the body is %s', async (_, body) => {
    expectInvalid(await patch(body), '');
  });

  test.each(badTexts(65_536))('returns 400 if content is %s', async (_, content) => {
    expectInvalid(await patch({ content, metadata: {} }), 'content');
  });

  test.each(badMetadata)('returns 400 if metadata is %s', async (_, metadata) => {
    expectInvalid(await patch({ content: 'x', metadata }), 'metadata');
  });

  test.each(['occurredAt', 'expiresAt'])('returns 400 if %s is not a time', async (field) => {
    for (const time of notTimes) {
      expectInvalid(await patch({ [field]: time }), field);
    }
  });

  test('returns 400 with the possible fields if none is set', async () => {
    const answer = await patch({});
    expectInvalid(answer, '');
    expect((await patch([])).text).not.toContain('occurredAt');
    for (const field of ['content', 'metadata', 'occurredAt', 'expiresAt']) {
      expect(answer.text).toContain(field);
    }
  });

  test.each(['id', 'userId', 'type', 'source', 'externalId', 'version', 'status'])(
    'returns 400 for the unknown field "%s"',
    async (field) => expectInvalid(await patch({ content: 'x', [field]: 'x' }), field),
  );

  test('changes nothing if the request is rejected', async () => {
    expect(await getMemory(server, id)).toMatchObject({ content: 'unchanged', metadata: {} });
  });
});
