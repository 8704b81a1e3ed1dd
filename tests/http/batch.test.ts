import { describe, expect, test } from 'bun:test';
import type { BatchAccepted } from '../../sdk/contract/ingest.ts';
import { ask, askRaw, bodyOf, expectInvalid, getPage, newUser } from '../support/http.ts';
import { loneSurrogate } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';

const server = await withProject();

async function batch(items: unknown[]): Promise<BatchAccepted> {
  return bodyOf(await ask(server, 'POST', '/v1/ingest/batch', { body: { items } }), 202);
}

const entry = { author: 'user', content: 'Help' };
const id = expect.stringMatching(/^mem_\w+$/);

const data = { text: 'x' };
const unknown = { type: 'document', userId: 'u', data: { ...data, b: 1 } };
const ticket = { subject: 'S', comments: [entry, { author: 'x' }] };
const badItems: [name: string, item: unknown, field: string][] = [
  ['null', null, ''],
  ['a string', 'x', ''],
  ['a list', [], ''],
  ['no type', { userId: 'u', data }, 'type'],
  ['an unknown type', { type: 'memory', userId: 'u', data }, 'type'],
  ['no userId', { type: 'document', data }, 'userId'],
  ['no data', { type: 'document', userId: 'u' }, 'data'],
  ['an unknown field of data', unknown, 'data.b'],
  ['a lone surrogate', { type: 'event', userId: 'u', data: { name: loneSurrogate } }, 'data.name'],
  ['no content', { type: 'ticket', userId: 'u', data: ticket }, 'data.comments.1.content'],
];

test('rejects only the invalid items, and names their fields', async () => {
  const userId = newUser();
  const good = { type: 'document', userId, data };
  const { failed, ...answer } = await batch([...badItems.map(([, bad]) => bad), good]);
  for (const [index, [name, , field]] of badItems.entries()) {
    const message = expect.stringMatching(field === '' ? /./ : new RegExp(`^${field}: .`));
    const error = { index, error: 'invalid_request', message };
    expect({ name, ...failed[index] }).toEqual({ name, ...error });
  }
  const { length } = badItems;
  const items = [{ index: length, memoryId: id, status: 'processing' as const }];
  expect(answer).toEqual({ accepted: 1, failedCount: length, items });
  expect((await getPage(server, userId)).items).toHaveLength(1);
});

const event = { type: 'event', userId: 'refused', data: { name: 'n' } };

test('returns 202 even if every item fails', async () => {
  expect(await batch([null, {}])).toMatchObject({ accepted: 0, items: [], failedCount: 2 });
});

describe.each<[path: string, good: object]>([
  ['/v1/ingest/batch', event],
  ['/v1/import', importable('refused')],
])('POST %s returns 400', (path, good) => {
  test.each<[name: string, body: unknown, field: string]>([
    ['a list', [good], ''],
    ['null', null, ''],
    ['an item', good, 'items'],
    ['no items', {}, 'items'],
    ['items that are null', { items: null }, 'items'],
    ['items that are an object', { items: { 0: good } }, 'items'],
    ['an empty list of items', { items: [] }, 'items'],
    ['1,001 items', { items: Array(1_001).fill(good) }, 'items'],
    ['an unknown field', { items: [good], nextCursor: null }, 'nextCursor'],
  ])('for %s', async (_, body, field) => {
    expectInvalid(await ask(server, 'POST', path, { body }), field);
    expect((await getPage(server, 'refused')).items).toEqual([]);
  });
});

test('a large body gets the same errors as a small one', async () => {
  // The items of a body over 64 KiB are parsed one by one.
  const send = async (items: string) => {
    const answer = await askRaw(server, 'POST', '/v1/ingest/batch', `{"items":[${items}]}`);
    return { ...bodyOf<object>(answer, 400), requestId: '' };
  };
  const blank = ' \t\r\n'.repeat(20_000);
  expect(await send(blank)).toEqual(await send(''));
  expect(await send(`${blank},${blank}`)).toEqual(await send(','));
  expect(await send(`{}${blank},`)).toEqual(await send('{},'));
});
