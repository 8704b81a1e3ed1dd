import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noFilter } from '../../server/memory/filter.ts';
import { createFinder, type Finder } from '../../server/memory/find.ts';
import { indexPassages } from '../../server/memory/passages.ts';
import { openSqlite } from '../../server/storage/sqlite/open.ts';
import type { Storage } from '../../server/storage/storage.ts';
import { countTurns } from '../support/turns.ts';
import { memory, projectId, remove, save, update } from './fixtures.ts';

/* What changes while a long search or list lets others in, which no client can time. */

const userId = 'ana';
const filler = 'The harbour was quiet and nobody spoke of the boats. '.repeat(1_000);
const query = 'lantern herbour';

let folder: string;
let storage: Storage;
let find: Finder;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'find-'));
  storage = openSqlite(join(folder, 'memory.db'), { exclusive: true });
  find = createFinder(storage);
});

afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true });
});

function store(content: string, metadata = '{}') {
  const saved = memory({ userId, content, metadata, passages: indexPassages(content, metadata) });
  return save(storage, saved).then(() => saved.id);
}

const ask = (finder = find, signal = new AbortController().signal) =>
  finder({ projectId, userId, query, filter: noFilter, limit: 100 }, signal);

async function fill(): Promise<void> {
  await storage.ensureProject('default');
  for (let count = 0; count < 80; count += 1) await store(filler);
}

/** What a search finds where the change comes after it has read and before it fetches. */
async function askDuring(change: () => Promise<unknown>): Promise<Map<string, string>> {
  const changed = Promise.withResolvers<void>();
  const reading = Promise.withResolvers<void>();
  const held: Storage = Object.assign(Object.create(storage), {
    async getPassage(...wanted: Parameters<Storage['getPassage']>) {
      reading.resolve();
      await changed.promise;
      return storage.getPassage(...wanted);
    },
  });
  const asked = ask(createFinder(held));
  await reading.promise;
  await change();
  changed.resolve();
  return new Map((await asked).map((found) => [found.memory.id, found.memory.content]));
}

test('a long search lets others in, also where a word has to be guessed', async () => {
  await fill();
  const { value, turns } = await countTurns(() => ask());
  expect(value).toHaveLength(80);
  expect(turns).toBeGreaterThan(10);
});

test('so does one whose filter lets nothing through, while it looks at all that it found', async () => {
  await storage.ensureProject('default');
  await Promise.all(Array.from({ length: 3_000 }, () => store('the harbour', '{"a":"lantern"}')));
  const held = Promise.withResolvers<void>();
  const first: Storage = Object.assign(Object.create(storage), {
    getPassage(...wanted: Parameters<Storage['getPassage']>) {
      held.resolve();
      return storage.getPassage(...wanted);
    },
  });
  const nothing = createFinder(first)(
    { projectId, userId, query, filter: { ...noFilter, type: 'ticket' }, limit: 1 },
    new AbortController().signal,
  );
  await held.promise;
  const { value, turns } = await countTurns(() => nothing);
  expect(value).toEqual([]);
  expect(turns).toBeGreaterThan(5);
});

test('a list lets others in while it reads for a filter by metadata', async () => {
  await storage.ensureProject('default');
  const long = 'x'.repeat(15_000);
  const wanted: string[] = [];
  for (let count = 0; count < 400; count += 1) {
    const tag = count % 100 === 7 ? 'yes' : 'no';
    const id = await store('short', JSON.stringify({ long, tag, other: 'yes' }));
    if (tag === 'yes') wanted.push(id);
  }
  const filter = { ...noFilter, metadata: [{ key: 'tag', value: 'yes' }] };
  const order = 'asc' as const;
  const range = { projectId, userId, filter, order, after: null, limit: 10 };
  const { value, turns } = await countTurns(() => storage.listMemories(range));
  expect(value.map(({ id }) => id)).toEqual(wanted.toSorted());
  expect(turns).toBeGreaterThan(5);
});

test('so does one for whose filter SQLite passes over everything', async () => {
  await storage.ensureProject('default');
  const metadata = JSON.stringify({ long: 'x'.repeat(12_000), other: 'yes' });
  await Promise.all(Array.from({ length: 2_600 }, () => store('short', metadata)));
  const texts = { ...noFilter, metadata: [{ key: 'tag', value: 'yes' }] };
  for (const filter of [texts, { ...noFilter, type: 'ticket' as const }]) {
    const order = 'desc' as const;
    const range = { projectId, userId, filter, order, after: null, limit: 10 };
    const { value, turns } = await countTurns(() => storage.listMemories(range));
    expect(value).toEqual([]);
    if (filter === texts) expect(turns).toBeGreaterThan(3);
  }
});

test('what is deleted while a list reads on is not in it', async () => {
  await storage.ensureProject('default');
  const other = JSON.stringify({ long: 'x'.repeat(12_000), other: 'yes' });
  await Promise.all(Array.from({ length: 2_600 }, () => store('short', other)));
  const filter = { ...noFilter, metadata: [{ key: 'tag', value: 'yes' }] };
  const order = 'desc' as const;
  for (let deletedInTime = false; !deletedInTime; ) {
    const newest = await store('short', '{"tag":"yes"}');
    const range = { projectId, userId, filter, order, after: null, limit: 10 };
    let ended = false;
    const listed = storage.listMemories(range).finally(() => {
      ended = true;
    });
    await remove(storage, newest);
    // On a busy disk the list may be the first to end.
    deletedInTime = !ended;
    if (deletedInTime) expect(await listed).toEqual([]);
  }
});

test('whoever has left before his turn came is not searched for', async () => {
  await fill();
  const left = new AbortController();
  const first = ask();
  const second = ask(find, left.signal);
  left.abort();
  expect(await first).toHaveLength(80);
  const { value, turns } = await countTurns(() => second);
  expect(value).toEqual([]);
  expect(turns).toBeLessThan(3);
});

test('what is changed or deleted during a search is not found by what it was', async () => {
  await fill();
  const [changed, deleted, kept] = [
    await store('the lantern is lit'),
    await store('another lantern'),
    await store('a lantern on the wall'),
  ];
  const found = await askDuring(async () => {
    await update(storage, changed, 'the candle is lit');
    await remove(storage, deleted);
  });
  expect([changed, deleted, kept].filter((id) => found.has(id))).toEqual([kept]);
});

test('what is deleted after it was fetched, and before the others are, is not found', async () => {
  await fill();
  await store('a lantern on the wall');
  const deleted = Promise.withResolvers<string>();
  let best: string | undefined;
  const held: Storage = Object.assign(Object.create(storage), {
    async getPassage(...wanted: Parameters<Storage['getPassage']>) {
      if (best !== undefined) await deleted.promise;
      const one = await storage.getPassage(...wanted);
      if (best === undefined && one !== null) {
        best = one.memory.id;
        remove(storage, best).then(() => deleted.resolve(one.memory.id));
      }
      return one;
    },
  });
  const found = (await ask(createFinder(held))).map(({ memory }) => memory.id);
  expect(found).toHaveLength(80);
  expect(found).not.toContain(await deleted.promise);
});

test('what is changed during a search and still matches is found as it is now', async () => {
  await fill();
  const id = await store('the lantern is lit');
  const found = await askDuring(() => update(storage, id, 'no lantern is lit'));
  expect(found.get(id)).toBe('no lantern is lit');
});
