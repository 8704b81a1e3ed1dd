import { expect } from 'bun:test';
import fc from 'fast-check';
import type { MemoryType } from '../../../sdk/contract/memory.ts';
import {
  answerOf,
  command,
  expectReplay,
  externalIds,
  idOf,
  metadata,
  nth,
  onMemory,
  processAll,
  sources,
  status,
  users,
  words,
} from './command.ts';
import { type Door, Model, sortBy } from './model.ts';
import { writes } from './writes.ts';

/* The commands that read, repeat a write or let time pass, and runs of all commands. */

const replay = command('replay', nth, async ({ responses }, _, n) => {
  const stored = [...responses.values()].at(-(n % Math.max(1, responses.size)));
  if (stored !== undefined) await expectReplay(stored);
});

/** Moves the clock to the next time at which a memory expires. */
const expire = command('expire', fc.constant(null), async (model) => {
  const times = [...model.memories.values()].flatMap(({ expiresAt }) => expiresAt ?? []);
  const [next] = times.sort();
  if (next !== undefined) model.moveTo(Date.parse(next));
});

const get = command('get', nth, async (model, door, n) => {
  const id = idOf(model, n);
  const expected = onMemory(model, id, undefined, (one) => one);
  expect(await answerOf(door.get(id))).toMatchObject(expected);
});

const filter = {
  type: fc.constantFrom<MemoryType>('memory', 'event'),
  status,
  source: fc.constantFrom(...sources),
  externalId: fc.constantFrom(...externalIds),
};
const query = fc.record({
  userId: fc.constantFrom(...users),
  order: fc.constantFrom('asc', 'desc'),
  limit: fc.integer({ min: 1, max: 4 }),
  filter: fc.record(filter, { requiredKeys: [] }),
  metadata: fc.oneof(fc.constant({}), metadata),
});
const list = command('list', query, async (model, door, asked) => {
  expect(await door.list(asked)).toMatchObject(model.pages(asked));
});

/** Compares everything that the service shows. */
async function lookAround(model: Model, door: Door): Promise<void> {
  const byId = ({ id }: { id: string }) => id;
  const all = sortBy(model.memories.values(), byId);
  expect(sortBy(await door.export(), byId)).toMatchObject(all);
  const statuses = [...model.ids].flatMap((memoryId) => {
    const known = model.memories.get(memoryId);
    return known === undefined ? [] : [{ memoryId, status: known.status }];
  });
  expect(await door.statuses([...model.ids])).toMatchObject(statuses);
  const counted = users.map((userId) => ({ userId, memories: model.of(userId).length }));
  const present = counted.filter(({ memories }) => memories > 0);
  expect(await door.users()).toMatchObject(sortBy(present, ({ userId }) => userId));
  const texts = all.map(({ content, metadata }) => content + JSON.stringify(metadata));
  const bytes = Buffer.byteLength(texts.join(''));
  const pending = all.filter((one) => one.status === 'processing').length;
  const counts = { memories: all.length, users: present.length, bytes, pending };
  expect(await door.stats()).toMatchObject(counts);
  const complete = all.filter((one) => one.status === 'complete');
  for (const userId of users) {
    for (const word of words) {
      const found = complete.filter((one) => one.userId === userId && one.content.includes(word));
      expect((await door.search(userId, word)).sort()).toEqual(found.map(byId));
    }
  }
}

const look = command('look', fc.constant(null), lookAround);
const work = command('process', fc.constant(null), processAll);
const others = [replay, replay, expire, work, get, list, list, look];
const commands = fc.commands([...writes, ...others], { maxCommands: 60, size: 'max' });

/** MODEL_RUNS makes the test longer. */
export async function expectModel(open: () => Promise<Door>, runs: number): Promise<void> {
  const numRuns = Number(process.env.MODEL_RUNS ?? runs);
  const seed = Number(process.env.MODEL_SEED ?? 20_261_127);
  const property = fc.asyncProperty(commands, async (some) => {
    const [model, door] = [new Model(), await open()];
    await fc.asyncModelRun(() => ({ model, real: door }), some);
    await lookAround(model, door);
  });
  await fc.assert(property, { numRuns, seed });
}
