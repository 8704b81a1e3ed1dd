import { expect, test } from 'bun:test';
import { getMemory, getPage, importAll, newUser } from '../support/http.ts';
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
const badNames = badTexts(256).filter(([name]) => name !== 'null');
const badFields: Record<string, [name: string, value: unknown][]> = {
  id: [...badTexts(), ...badIds],
  userId: badTexts(256),
  content: badTexts(),
  metadata: [['left out', undefined], ...badMetadata],
  type: [...badTexts(), ['unknown', 'note']],
  status: [...badTexts(), ['unknown', 'done']],
  source: badNames,
  externalId: badNames,
  version: badVersions,
  createdAt: badTimes,
  updatedAt: badTimes,
  memoryId: [['an unknown field', 'mem_1']],
};

test('rejects only the invalid items, and names their fields', async () => {
  const [one, two] = [newUser(), newUser()];
  const bad = Object.entries(badFields).flatMap(([field, values]) =>
    values.map(([name, value]) => {
      return { field, name, item: withValue(importable(one), field, value) as unknown };
    }),
  );
  for (const item of [null, 'x', [], 1]) bad.push({ field: '', name: 'no object', item });
  const { failed, ...counts } = await importAll(server, [
    ...bad.map(({ item }) => item),
    importable(two),
  ]);
  for (const [index, { field, name }] of bad.entries()) {
    const message = expect.stringMatching(field === '' ? /./ : new RegExp(`^${field}: .`));
    const error = { index, error: 'invalid_request', message };
    expect({ name, ...failed[index] }).toEqual({ name, ...error });
  }
  expect(counts).toEqual({ imported: 1, skipped: 0, failedCount: bad.length });
  expect((await getPage(server, one)).items).toEqual([]);
  expect((await getPage(server, two)).items).toEqual([importable(two)]);
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

test('converts times to UTC, and stores version 1 for an item without a version', async () => {
  const given = importable(newUser());
  const times = {
    createdAt: '2026-11-20T12:00:00.123456+02:00',
    updatedAt: '0000-01-01t00:00:00z',
  };
  await importAll(server, [withValue({ ...given, ...times }, 'version', undefined)]);
  expect(await getMemory(server, given.id)).toEqual({
    ...given,
    version: 1,
    createdAt: '2026-11-20T10:00:00.123Z',
    updatedAt: '0000-01-01T00:00:00.000Z',
  });
});

test('lists failed items in order, for whatever reason, and skips an id that exists', async () => {
  const userId = newUser();
  const externalKey = { source: 's', externalId: 'e' };
  const [a, b, c] = ['a', 'b', 'c'].map((name) => {
    return { ...importable(userId), ...externalKey, id: `mem_${userId}_${name}` };
  });
  const { failed, ...counts } = await importAll(server, [a, null, b, null, c, a]);
  expect(counts).toEqual({ imported: 1, skipped: 1, failedCount: 4 });
  expect(failed.map(({ index }) => index)).toEqual([1, 2, 3, 4]);
  expect(failed[1]?.message).toContain('externalId');
});

test('returns 200 with 1,000 items', async () => {
  const userId = newUser();
  const items = Array.from({ length: 1_000 }, (_, index) => {
    return { ...importable(userId), id: `mem_${userId}_${index}` };
  });
  expect(await importAll(server, items)).toMatchObject({ imported: 1_000, skipped: 0 });
});
