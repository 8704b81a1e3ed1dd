import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { temporaryFolder } from '../support/folder.ts';
import { expectRan, lines, summaryOf, withMemory } from './command.ts';

const { server, memory } = await withMemory();

const ticket = (userId: string, externalId: string | null, subject: string) => {
  const data = { subject, comments: [{ author: 'user', content: 'Hi' }] };
  return JSON.stringify({ userId, source: 'desk', ...(externalId && { externalId }), data });
};
const ingest = (stdin: string[], more: string[] = []) =>
  memory(['ingest', 'support', '-', ...more], { stdin: `${stdin.join('\n')}\n` });
const counts = (accepted: number, replayed: number) => summaryOf({ accepted, replayed, failed: 0 });

async function stored(userId: string) {
  const { items } = await server.client.list({ userId, order: 'asc' });
  return items.map(({ id, content }) => ({ id, subject: content.split('\n')[0] }));
}
const subjects = async (userId: string) => (await stored(userId)).map(({ subject }) => subject);

describe('memories with an externalId have the contents of the file', () => {
  test('after a batch reverts a change', async () => {
    const monday = [ticket('back', '1', 'open'), ticket('back', '2', 'same')];
    const tuesday = [ticket('back', '1', 'solved'), ticket('back', '2', 'same')];
    await ingest(monday);
    const before = await stored('back');
    await ingest(tuesday);
    expect(await subjects('back')).toEqual(['solved', 'same']);
    expect(await ingest(monday)).toMatchObject({ code: 0, stdout: '' });
    expect(await stored('back')).toEqual(before);
  });

  test('after they have been updated or deleted', async () => {
    const batch = [ticket('since', '1', 'one'), ticket('since', '2', 'two')];
    await ingest(batch);
    const [one, two] = await stored('since');
    await server.client.update(one?.id ?? '', { content: 'by hand' });
    await server.client.delete(two?.id ?? '');
    expectRan(await ingest(batch), 0, counts(2, 0));
    expect(await subjects('since')).toEqual(['one', 'two']);
    expect((await stored('since'))[0]).toEqual({ id: one?.id ?? '', subject: 'one' });
  });

  test('and lines without an externalId between these lines are not duplicated', async () => {
    const mixed = [ticket('mixed', '1', 'one'), ticket('mixed', null, 'bare')];
    expectRan(await ingest(mixed), 0, counts(2, 0));
    await ingest([ticket('mixed', '1', 'changed')]);
    const again = await ingest(mixed, ['--wait', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ accepted: 1, replayed: 1, complete: 2 });
    expect((await subjects('mixed')).toSorted()).toEqual(['bare', 'one']);
    // The changed ticket must not cause the record without an externalId to be stored twice.
    const changed = [ticket('mixed', '1', 'two'), ticket('mixed', null, 'bare')];
    expectRan(await ingest(changed), 0, counts(1, 1));
    expect((await subjects('mixed')).toSorted()).toEqual(['bare', 'two']);
  });

  test('the last version of a record is stored, regardless of its position', async () => {
    const versions = Array.from({ length: 1_100 }, (_, at) =>
      at % 3 === 0 ? ticket('long', '1', `v${at}`) : ticket('long', null, `bare ${at}`),
    );
    await ingest(versions);
    expectRan(await ingest(versions), 0, counts(367, 733));
    const { items } = await server.client.list({ userId: 'long', externalId: '1' });
    expect(items.map(({ content }) => content.split('\n')[0])).toEqual(['v1098']);
    const all = await Array.fromAsync(server.client.export({ userId: 'long' }));
    expect(all).toHaveLength(734);
  });
});

test('bad lines with and without an externalId are reported once, in file order', async () => {
  using folder = temporaryFolder();
  const out = folder.file('bad.jsonl');
  const kinds = ['1', null, '2', null];
  const batch = kinds.map((externalId, at) => ticket('bad', externalId, at % 3 === 0 ? 'a' : ''));
  const { stderr } = await ingest(batch, ['--errors-out', out]);
  expect(stderr).toContain(summaryOf({ accepted: 2, replayed: 0, failed: 2 }));
  expect(stderr.match(/^line \d/gm)).toEqual(['line 2', 'line 3']);
  const kept = lines(readFileSync(out, 'utf8')).map((line) => JSON.parse(line).text);
  expect(kept).toEqual([batch[1], batch[2]]);
});

test('repeating --idempotency-key has no further effect, whatever the lines contain', async () => {
  const batch = [ticket('key', '1', 'one'), ticket('key', null, 'bare')];
  const key = ['--idempotency-key', 'mine'];
  await ingest(batch, key);
  await ingest([ticket('key', '1', 'two')]);
  expectRan(await ingest(batch, key), 0, counts(0, 2));
  expect((await subjects('key')).toSorted()).toEqual(['bare', 'two']);
});

test('a second run does not restore deleted memories without an externalId', async () => {
  const batch = ['one', 'two'].map((subject) => ticket('gone', null, subject));
  await ingest(batch);
  await server.client.deleteAll({ userId: 'gone' });
  expectRan(await ingest(batch), 0, counts(0, 2));
});

test.each(['one.jsonl', 'ONE.NDJSON'])('a second run of %s stores no duplicate', async (name) => {
  using folder = temporaryFolder();
  const file = folder.file(name);
  await Bun.write(file, ticket(name, null, 'the only line'));
  await memory(['ingest', 'support', file]);
  expectRan(await memory(['ingest', 'support', file]), 0, counts(0, 1));
  expect(await subjects(name)).toEqual(['the only line']);
});

test('lines that were rejected as another type can be ingested as their own type', async () => {
  const stdin = ['one', 'two'].map((subject) => ticket('typed', null, subject)).join('\n');
  const asChats = await memory(['ingest', 'chat', '-'], { stdin });
  expect(asChats.stderr).toContain(summaryOf({ accepted: 0, replayed: 0, failed: 2 }));
  expectRan(await memory(['ingest', 'support', '-'], { stdin }), 0, counts(2, 0));
});
