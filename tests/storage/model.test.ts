import { afterAll, beforeAll, describe, test } from 'bun:test';
import type { UserRecord } from '../../sdk/contract/ingest.ts';
import { noSuchMemory } from '../../server/errors.ts';
import { changesOf, importedMemory, newMemory } from '../../server/http/requests.ts';
import { shownStats } from '../../server/http/stats.ts';
import { filterOf } from '../../server/memory/filter.ts';
import { renderRecord } from '../../server/memory/render.ts';
import type { WriteResult } from '../../server/storage/types/memories.ts';
import { expectModel } from '../support/model/expect.ts';
import { clock, type Door, type Item, type Options, recordOf } from '../support/model/model.ts';
import { databases } from './databases.ts';
import { claim, complete, keyed, newProject, type Opened, walk } from './fixtures.ts';
import { expectConsistent } from './invariants.ts';

/* Each storage behaves like the model. */

const newId = () => `mem_${crypto.randomUUID()}`;
const bodyOf = ({ response }: WriteResult) =>
  response.body === '' ? undefined : JSON.parse(response.body);

/** The answers of a new project of the storage, in the form of the API. */
async function doorTo(opened: Opened): Promise<Door> {
  const { storage } = opened;
  const project = await newProject(opened);
  const now = () => ({ now: clock.now });
  const write = ({ key, version }: Options, request: unknown) => ({
    projectId: project.id,
    at: clock.now,
    idempotency: key === undefined ? null : keyed(key, { fingerprint: JSON.stringify(request) }),
    expectedVersion: version ?? null,
  });
  const rendered = (item: Item) => renderRecord(recordOf(item) as UserRecord, newId());
  const allOf = (items: unknown[]) => ({ indexes: [...items.keys()], failed: [] });
  return {
    isAutomatic: false,
    save: async (fields, options) => {
      const memory = newMemory(fields, newId());
      return bodyOf(await storage.saveMemory({ ...write(options, ['save', fields]), memory }));
    },
    update: async (id, given, options) => {
      const changes = changesOf(given);
      const update = { ...write(options, ['update', id, given]), id, changes };
      return bodyOf(await storage.updateMemory(update));
    },
    remove: async (id, options) =>
      bodyOf(await storage.deleteMemory({ ...write(options, ['delete', id]), id })),
    erase: async (userId, options) =>
      bodyOf(await storage.eraseUser({ ...write(options, ['erase', userId]), userId })),
    ingest: async (item, options) => {
      const records = { records: [rendered(item)], batch: null };
      return bodyOf(await storage.acceptRecords({ ...write(options, ['one', item]), ...records }));
    },
    batch: async (items, options) => {
      const records = { records: items.map(rendered), batch: allOf(items) };
      return bodyOf(await storage.acceptRecords({ ...write(options, ['all', items]), ...records }));
    },
    import: async (items, options) => {
      const memories = { memories: items.map(importedMemory), batch: allOf(items) };
      const given = { ...write(options, ['import', items]), ...memories };
      return bodyOf(await storage.importMemories(given));
    },
    get: async (id) => {
      if ((await project.get(id, now())) === null) throw noSuchMemory();
      const { items } = await project.exportPage(now());
      return items.find((one) => one.id === id);
    },
    statuses: (ids) => project.statuses(ids, now()),
    list: ({ userId, filter, metadata, ...page }) => {
      const asked = { ...now(), ...page, filter: filterOf({ ...filter, metadata }) };
      return walk((after) => project.page(userId, { ...asked, after }));
    },
    export: async () =>
      (await walk((after) => project.exportPage({ ...now(), limit: 3, after }))).flat(),
    search: async (userId, word) =>
      (await project.search(word, { ...now(), userId, limit: 100 })).map(({ id }) => id),
    users: async () => (await walk((after) => project.users({ ...now(), limit: 1, after }))).flat(),
    stats: async () => shownStats(await project.measure(now())),
    process: async () => {
      for (const task of await claim(storage, now())) await complete(storage, task, clock.now);
    },
  };
}

describe.each(databases)('%s', (_, open) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.dispose());

  test('behaves like the model', async () => {
    await expectModel(() => doorTo(opened), 15);
    await expectConsistent(opened);
  }, 1_800_000);
});
