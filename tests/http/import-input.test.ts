import { expect, test } from 'bun:test';
import { ask, expectInvalid, getMemory, getPage, importAll, newUser } from '../support/http.ts';
import { badMetadata, badTexts, withValue } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';

/* What POST /v1/import accepts. */

const server = await withProject();

const badVersions: [name: string, value: unknown][] = [
  ['null', null],
  ['zero', 0],
  ['a fraction', 1.5],
  ['above the limit', 1e12 + 1],
  ['beyond 64 bits', 2 ** 64],
];

const rowsOf = (field: string, values: [name: string, value: unknown][]) =>
  values.map(([name, value]): [string, string, unknown] => [field, name, value]);
const badTimes: [name: string, value: unknown][] = [
  ['a number', 0],
  ['null', null],
  ['a date without a time', '2026-11-20'],
  ['no time zone', '2026-11-20T10:00:00'],
  ['a day that does not exist', '2026-02-30T10:00:00Z'],
  ['a leap second', '2016-12-31T23:59:60Z'],
  ['before the year 0', '0000-01-01T00:00:00+01:00'],
  ['after the year 9999', '9999-12-31T23:59:59-01:00'],
];
const badIds: [name: string, value: unknown][] = [
  ['another kind of id', 'req_1'],
  ['nothing after mem_', 'mem_'],
  ['upper case', 'MEM_1'],
  ['a slash', 'mem_a/b'],
  ['a trailing newline', 'mem_1\n'],
  ['65 characters after mem_', `mem_${'x'.repeat(65)}`],
];
const bad = [
  ...rowsOf('id', [...badTexts(), ...badIds]),
  ...rowsOf('userId', badTexts(256)),
  ...rowsOf('content', badTexts()),
  ...rowsOf('metadata', [['left out', undefined], ...badMetadata]),
  ...rowsOf('type', [...badTexts(), ['unknown', 'note']]),
  ...rowsOf('status', [...badTexts(), ['unknown', 'done']]),
  ...rowsOf(
    'source',
    badTexts(256).filter(([name]) => name !== 'null'),
  ),
  ...rowsOf(
    'externalId',
    badTexts(256).filter(([name]) => name !== 'null'),
  ),
  ...rowsOf('version', badVersions),
  ...rowsOf('createdAt', badTimes),
  ...rowsOf('updatedAt', badTimes),
  ...rowsOf('memoryId', [['an unknown field', 'mem_1']]),
];

test('rejects only the invalid items, and names their fields', async () => {
  const [one, two] = [newUser(), newUser()];
  const broken = bad.map(([field, _, value]) => withValue(importable(one), field, value));
  const { failed, ...counts } = await importAll(server, [...broken, importable(two)]);
  for (const [index, [field, name]] of bad.entries()) {
    const message = expect.stringMatching(new RegExp(`^${field}: .`));
    const error = { index, error: 'invalid_request', message };
    expect({ name, ...failed[index] }).toEqual({ name, ...error });
  }
  expect(counts).toEqual({ imported: 1, skipped: 0, failedCount: bad.length });
  expect((await getPage(server, one)).items).toEqual([]);
  expect((await getPage(server, two)).items).toEqual([importable(two)]);
});

test.each([
  ['null', null],
  ['a string', 'x'],
  ['a list', []],
  ['a number', 1],
])('rejects an item that is not an object: %s', async (_, item) => {
  expect(await importAll(server, [item])).toMatchObject({ imported: 0, failed: [{ index: 0 }] });
});

test('the error of an item names three of its invalid fields', async () => {
  const { failed } = await importAll(server, [{ id: newUser(), createdAt: 'yesterday' }]);
  expect(failed).toEqual([
    {
      index: 0,
      error: 'invalid_request',
      message: 'userId: is required; content: is required; metadata: is required',
    },
  ]);
});

test('converts times to UTC', async () => {
  const userId = newUser();
  const createdAt = '2026-11-20T12:00:00.123456+02:00';
  await importAll(server, [
    { ...importable(userId), createdAt, updatedAt: '0000-01-01t00:00:00z' },
  ]);
  expect(await getMemory(server, `mem_${userId}`)).toMatchObject({
    createdAt: '2026-11-20T10:00:00.123Z',
    updatedAt: '0000-01-01T00:00:00.000Z',
  });
});

test('stores version 1 for an item without a version', async () => {
  const userId = newUser();
  await importAll(server, [withValue(importable(userId), 'version', undefined)]);
  expect(await getMemory(server, `mem_${userId}`)).toEqual(importable(userId));
});

test('skips an existing id and keeps its memory, even within one import', async () => {
  const userId = newUser();
  const first = importable(userId);
  const second = { ...first, content: 'another', userId: newUser() };
  expect(await importAll(server, [first, second])).toMatchObject({ imported: 1, skipped: 1 });
  expect(await importAll(server, [second])).toMatchObject({
    imported: 0,
    skipped: 1,
    failedCount: 0,
  });
  expect(await getMemory(server, first.id)).toEqual(first);
  expect((await getPage(server, second.userId)).items).toEqual([]);
});

test.each([['crm'], [null]])(
  'rejects source %p with an externalId of another memory',
  async (source) => {
    const userId = newUser();
    const first = { ...importable(userId), source, externalId: 'e' };
    const second = { ...first, id: `${first.id}_2` };
    const message = expect.stringContaining('externalId');
    const failed = [{ index: 1, error: 'invalid_request', message }];
    expect(await importAll(server, [first, second])).toMatchObject({
      imported: 1,
      failedCount: 1,
      failed,
    });
    expect((await getPage(server, userId)).items).toEqual([first]);
    const others = [
      { ...second, source: 'other' },
      { ...second, id: `${first.id}_3`, userId: newUser() },
      { ...second, id: `${first.id}_4`, externalId: null },
      { ...second, id: `${first.id}_5`, externalId: null },
    ];
    expect(await importAll(server, others)).toMatchObject({ imported: 4, failedCount: 0 });
  },
);

test('lists failed items in order, regardless of the reason', async () => {
  const userId = newUser();
  const externalKey = { source: 's', externalId: 'e' };
  const [a, b, c] = ['a', 'b', 'c'].map((name) => {
    return { ...importable(userId), ...externalKey, id: `mem_${userId}_${name}` };
  });
  const { failed } = await importAll(server, [a, null, b, null, c, a]);
  expect(failed.map(({ index }) => index)).toEqual([1, 2, 3, 4]);
});

test('returns 200 with 1,000 items', async () => {
  const userId = newUser();
  const items = Array.from({ length: 1_000 }, (_, index) => {
    return { ...importable(userId), id: `mem_${userId}_${index}` };
  });
  expect(await importAll(server, items)).toMatchObject({ imported: 1_000, skipped: 0 });
});

const good = importable('refused');
test.each<[name: string, body: unknown, field: string]>([
  ['a list', [good], ''],
  ['null', null, ''],
  ['a memory', good, 'items'],
  ['no items', {}, 'items'],
  ['items that are null', { items: null }, 'items'],
  ['an empty list of items', { items: [] }, 'items'],
  ['1,001 items', { items: Array(1_001).fill(good) }, 'items'],
  ['a whole page', { items: [good], nextCursor: null }, 'nextCursor'],
])('returns 400 for an invalid body: %s', async (_, body, field) => {
  expectInvalid(await ask(server, 'POST', '/v1/import', { body }), field);
  expect((await getPage(server, 'refused')).items).toEqual([]);
});
