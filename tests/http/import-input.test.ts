import { expect, test } from 'bun:test';
import { getMemory, getPage, importAll, newUser } from '../support/http.ts';
import { badMetadata, badTexts, withValue } from '../support/inputs.ts';
import { withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';

const server = await withProject();

const badTimes = [
  ...[0, null, '2026-11-20', '2026-11-20T10:00:00', '2026-02-30T10:00:00Z'],
  ...['2016-12-31T23:59:60Z', '0000-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'],
];
const badIds = ['req_1', 'mem_', 'MEM_1', 'mem_a/b', 'mem_1\n', `mem_${'x'.repeat(65)}`];
const badNames = badTexts(256).filter((value) => value !== null);
const badFields: Record<string, unknown[]> = {
  id: [...badTexts(), ...badIds],
  userId: badTexts(256),
  content: badTexts(),
  metadata: [undefined, ...badMetadata],
  type: [...badTexts(), 'note'],
  status: [...badTexts(), 'done'],
  source: badNames,
  externalId: badNames,
  version: [null, 0, 1.5, 1e12 + 1, 2 ** 64],
  createdAt: badTimes,
  updatedAt: badTimes,
  // An unknown field.
  memoryId: ['mem_1'],
};

test('rejects only the invalid items, and names their fields', async () => {
  const [one, two] = [newUser(), newUser()];
  const bad = Object.entries(badFields).flatMap(([field, values]) =>
    values.map((value) => ({ field, item: withValue(importable(one), field, value) as unknown })),
  );
  for (const item of [null, 'x', [], 1]) bad.push({ field: '', item });
  const items = [...bad.map(({ item }) => item), importable(two)];
  const { failed, ...counts } = await importAll(server, items);
  for (const [index, { field, item }] of bad.entries()) {
    const message = expect.stringMatching(field === '' ? /./ : new RegExp(`^${field}: .`));
    const error = { index, error: 'invalid_request', message };
    expect({ item, ...failed[index] }).toEqual({ item, ...error });
  }
  expect(counts).toEqual({ imported: 1, skipped: 0, failedCount: bad.length });
  expect((await getPage(server, one)).items).toEqual([]);
  expect((await getPage(server, two)).items).toEqual([importable(two)]);
});

test('the error of an item names three of its invalid fields', async () => {
  const { failed } = await importAll(server, [{ id: newUser(), createdAt: 'yesterday' }]);
  const message = 'userId: is required; content: is required; metadata: is required';
  expect(failed).toEqual([{ index: 0, error: 'invalid_request', message }]);
});

test('converts times to UTC, and stores version 1 for an item without a version', async () => {
  const given = importable(newUser());
  const createdAt = '2026-11-20T12:00:00.123456+02:00';
  const item = { ...given, createdAt, updatedAt: '0000-01-01t00:00:00z' };
  await importAll(server, [withValue(item, 'version', undefined)]);
  const times = { createdAt: '2026-11-20T10:00:00.123Z', updatedAt: '0000-01-01T00:00:00.000Z' };
  expect(await getMemory(server, given.id)).toEqual({ ...given, version: 1, ...times });
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
