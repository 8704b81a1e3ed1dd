import { test } from 'bun:test';
import { MemoryClient } from '../../sdk/index.ts';
import { expectConsistent } from '../storage/invariants.ts';
import { expectModel } from '../support/model/expect.ts';
import { clock, type Door, type Options, recordOf } from '../support/model/model.ts';
import { withServer } from '../support/server.ts';
import { until } from '../support/until.ts';

let projects = 0;
const server = await withServer({}, [], { now: () => clock.now });

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(items);
}

/** The answers that a client of a new project gets. */
async function open(): Promise<Door> {
  projects += 1;
  const apiKey = await server.createKey(`project ${projects}`);
  const client = new MemoryClient({ apiKey, baseUrl: server.url });
  const keyed = ({ key }: Options) => ({ idempotencyKey: key ?? null });
  const write = ({ version, ...rest }: Options) => ({
    ...keyed(rest),
    ...(version !== undefined && { ifVersion: version }),
  });
  return {
    isAutomatic: true,
    save: (fields, options) => client.save(fields, write(options)),
    update: (id, changes, options) => client.update(id, changes, write(options)),
    remove: (id, options) => client.delete(id, write(options)),
    erase: (userId, options) => client.deleteAll({ userId }, keyed(options)),
    ingest: (item, options) => client.ingest.record(recordOf(item), keyed(options)),
    batch: (items, options) => client.ingest.batch({ items: items.map(recordOf) }, keyed(options)),
    import: (items, options) => client.import({ items }, keyed(options)),
    get: (id) => client.get(id),
    statuses: async (ids) => (await client.statusMany(ids)).items,
    async list({ filter, ...query }) {
      const pages: unknown[][] = [];
      let cursor: string | null = null;
      do {
        const page = await client.list({ ...query, ...filter, cursor });
        pages.push(page.items);
        cursor = page.nextCursor;
      } while (cursor !== null);
      return pages;
    },
    export: () => collect(client.export()),
    async search(userId, query) {
      const { items } = await client.search({ userId, query, limit: 100 });
      return items.map(({ id }) => id);
    },
    users: () => collect(client.users({ limit: 1 })),
    stats: () => client.stats(),
    async process() {
      await until(async () => (await client.tasks({ status: 'processing' })).items.length === 0);
    },
  };
}

test('the service behaves like the model', async () => {
  await expectModel(open, 5);
  await expectConsistent({ url: server.databaseUrl });
}, 1_800_000);
