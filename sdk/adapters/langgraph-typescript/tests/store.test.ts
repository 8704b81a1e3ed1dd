import { describe, expect, test } from 'bun:test';
import { InMemoryStore, type Operation } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { MemoryClient } from 'memory-service-sdk';
import { MemoryServiceStore } from '../index.ts';

const sequences = Number(process.env.ADAPTER_SEQUENCES ?? 40);
const client = new MemoryClient();
const newUser = () => crypto.randomUUID();

/* Random batches must have the results of `InMemoryStore`. All namespaces begin with `root`. */

const rest = fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 });
const key = fc.constantFrom('k1', 'k/2', 'ключ');
const controls = 'a\n\nb\t\r\f\b\v\\n\\';
const texts = ['red', 'blue', '', '1', 'x'.repeat(300), 'nul\0', '😀', 'cut \ud83d', controls];
const scalar = fc.constantFrom(null, true, false, 0, 1, 1.5, -2, ...texts);
const value = fc.record(
  { color: scalar, size: scalar, constructor: scalar, '$odd]': scalar, list: fc.array(scalar) },
  { requiredKeys: [] },
);
const operator = fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$x');
const operand = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }));
const comparison = fc.tuple(operator, operand).map(([name, one]) => ({ [name]: one }));
const filter = fc.record(
  { color: fc.oneof(scalar, comparison), size: fc.oneof(scalar, comparison), constructor: scalar },
  { requiredKeys: [] },
);
const path = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 2 });

const operationIn = (root: string): fc.Arbitrary<Operation> => {
  const namespace = rest.map((labels) => [root, ...labels]);
  const conditions = fc
    .tuple(path, fc.option(path))
    .map(([prefix, suffix]) => [
      { matchType: 'prefix' as const, path: [root, ...prefix] },
      ...(suffix ? [{ matchType: 'suffix' as const, path: suffix }] : []),
    ]);
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ namespace, key, value: fc.option(value, { freq: 5 }) }) },
    fc.record({ namespace, key }),
    fc.record({ namespacePrefix: namespace, filter, limit: fc.constant(1_000) }),
    fc.record({
      ...{ matchConditions: conditions, offset: fc.constant(0) },
      maxDepth: fc.constantFrom(1, 2, 3),
      limit: fc.constantFrom(2, 100),
    }),
  ) as fc.Arbitrary<Operation>;
};

type Named = { namespace: string[]; key: string; value: object };
const isNamed = (one: unknown): one is Named =>
  typeof one === 'object' && one !== null && 'value' in one;
const factOf = (one: unknown) =>
  isNamed(one) ? { namespace: one.namespace, key: one.key, value: one.value } : one;

/** What must be equal: all but the times, and the order of a search. */
function facts(result: unknown): unknown {
  if (!Array.isArray(result) || !result.some(isNamed)) return factOf(result);
  const order = (one: unknown) => JSON.stringify(isNamed(one) ? [one.namespace, one.key] : one);
  return result.map(factOf).sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

class Oracle extends InMemoryStore {
  /** A put changes the items that reads of the same batch return, so reads are copied. */
  async results(operations: Operation[]): Promise<unknown[]> {
    this.prune();
    const results: unknown[] = [];
    for (const one of operations) {
      results.push('value' in one ? null : structuredClone((await this.batch([one]))[0]));
    }
    await this.batch(operations.filter((one) => 'value' in one));
    return results;
  }

  /** It lists a namespace even if all of its items have been deleted. */
  prune(): void {
    const data: unknown = Reflect.get(this, 'data');
    if (!(data instanceof Map)) throw new Error('InMemoryStore has changed');
    for (const [name, items] of data) if (items.size === 0) data.delete(name);
  }
}

test('random batches have the results of the store in memory', async () => {
  let compared = 0;
  const labels = fc.constantFrom(1, 2, 3);
  const root = newUser();
  const batches = fc.array(fc.array(operationIn(root), { minLength: 1, maxLength: 5 }), {
    minLength: 4,
    maxLength: 8,
  });
  const run = async (userLabels: number, list: Operation[][]) => {
    const own = newUser();
    const renamed = JSON.parse(JSON.stringify(list).replaceAll(root, own)) as Operation[][];
    const [oracle, store] = [new Oracle(), new MemoryServiceStore(client, { userLabels })];
    for (const batch of renamed) {
      const expected = await oracle.results(batch);
      const results = await store.batch(batch);
      expect(results.map(facts)).toEqual(expected.map(facts));
      compared += batch.length;
    }
  };
  await fc.assert(fc.asyncProperty(labels, batches, run), { numRuns: sequences });
  console.log(`${sequences} sequences of batches, ${compared} results compared`);
}, 3_600_000);

describe('the store', () => {
  const store = new MemoryServiceStore(client);

  test('ranks with a query, and restricts what it finds with a filter', async () => {
    const user = newUser();
    await store.put([user, 'facts'], 'tea', { text: 'Likes tea', kind: 'rare' });
    await store.put([user, 'facts'], 'cello', { text: 'Plays the cello', kind: 'rare' });
    await store.put([user, 'hidden'], 'tea', { text: 'Likes tea' }, false);
    const found = await store.search([user], { query: 'tea', filter: { kind: 'rare' } });
    expect(found).toMatchObject([{ key: 'tea', score: expect.any(Number) }]);
    expect(await store.search([user, 'hidden'], { query: 'tea' })).toEqual([]);
    expect(await store.search([user, 'hidden'])).toHaveLength(1);
  });

  test('reads memories that another client has edited', async () => {
    const userId = newUser();
    await store.put([userId], 'k', { text: 'Plays the cello' });
    const { items } = await client.list({ userId });
    await client.update(items[0]?.id ?? '', { content: 'Plays the violin' });
    expect(await store.get([userId], 'k')).toMatchObject({ value: { text: 'Plays the violin' } });
    for (const content of ['{\n  "text": "a\\nb"\n}', '{\n  "text": "a\nb"\n}\n']) {
      await client.update(items[0]?.id ?? '', { content });
      expect(await store.get([userId], 'k')).toMatchObject({ value: { text: 'a\nb' } });
    }
  });

  test('finds the first word of a line, also with a query that is not valid Unicode', async () => {
    const user = newUser();
    await store.put([user], 'list', { text: 'Food:\nPeanuts are forbidden' });
    await store.put([user], 'snack', { text: 'Likes peanuts' });
    const found = await store.search([user], { query: '\0peanuts \ud83d' });
    expect(found.map(({ key }) => key).sort()).toEqual(['list', 'snack']);
  });

  test('does not take other memories for items', async () => {
    const userId = newUser();
    await client.save({ userId, content: 'Plays the cello' });
    expect(await store.search([userId])).toEqual([]);
    expect(await store.search([userId], { query: 'cello' })).toEqual([]);
    expect(await store.listNamespaces({ prefix: [userId] })).toEqual([]);
  });

  test('deletes an item that another client deletes at the same time', async () => {
    const userId = newUser();
    await store.put([userId], 'k', { text: 'Plays the cello' });
    const interfering = new MemoryClient({
      fetch: async (url, init) => {
        if (init?.method === 'DELETE') await client.deleteAll({ userId });
        return fetch(url, init);
      },
    });
    await new MemoryServiceStore(interfering).delete([userId], 'k');
    expect(await store.get([userId], 'k')).toBeNull();
  });

  test('neither finds nor changes another item if JavaScript passes no key', async () => {
    const user = newUser();
    await store.put([user], 'k', { text: 'Plays the cello' });
    const { key }: { key: string } = JSON.parse('{}');
    await expect(store.get([user], key)).rejects.toThrow('key: must be a string');
    await expect(store.delete([user], key)).rejects.toThrow('key: must be a string');
    await expect(store.put([user], key, {})).rejects.toThrow('key: must be a string');
    expect((await store.search([user])).map((item) => item.key)).toEqual(['k']);
  });

  test('raises an error for what the service cannot do', async () => {
    const user = newUser();
    const deep = new MemoryServiceStore(client, { userLabels: 2 });
    await expect(deep.search([user], { query: 'x' })).rejects.toThrow('first 2 labels');
    const many = store.search([user], { query: 'x', limit: 101 });
    await expect(many).rejects.toThrow('at most 100 items');
    await expect(store.put([user], 'k', {}, ['text'])).rejects.toThrow('index');
    const long = store.put([user], 'k', { text: 'x'.repeat(70_000) });
    await expect(long).rejects.toThrow('content: must be at most');
    await expect(store.get(['a.b'], 'k')).rejects.toThrow('periods');
  });
});
