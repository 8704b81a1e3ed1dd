import {
  type Case,
  type Context,
  expectStatus,
  isIndependent,
  isRefused,
  post,
  replays,
  save,
  withoutKey,
} from './matrix-rules.ts';
import {
  afterExpiry,
  afterLimit,
  correctedAfterRefusal,
  deleteTwice,
  notFoundTwice,
  racingBodies,
  reorderedBatch,
  replayAfterDelete,
  replayAfterUpdate,
  updateOfAnother,
} from './matrix-sequences.ts';

export const cases: Case[] = [
  { name: 'the same request', check: (c) => replays(c, save(c)) },
  {
    name: 'the same JSON with different property order',
    check: (c) => replays(c, post('/v1/memories', { content: 'first', userId: c.userId }, c.key)),
  },
  {
    name: 'another API key of the project',
    check: (c) => replays(c, { ...save(c), apiKey: c.rotated }),
  },
  { name: 'different content', check: (c) => isRefused(c, save(c, { content: 'second' })) },
  { name: 'an additional field', check: (c) => isRefused(c, save(c, { metadata: { a: 1 } })) },
  { name: 'an explicit default value', check: (c) => isRefused(c, save(c, { metadata: {} })) },
  {
    name: 'a different route',
    check: (c) =>
      isRefused(c, post('/v1/ingest/document', { userId: c.userId, data: { text: 'x' } }, c.key)),
  },
  {
    name: 'an update with the key of the save',
    check: (c) => isRefused(c, { ...save(c), method: 'PATCH', body: { content: 'second' } }, true),
  },
  {
    name: 'a deletion with the key of the save',
    check: (c) => isRefused(c, { method: 'DELETE', path: '', idempotencyKey: c.key }, true),
  },
  {
    name: 'the key in upper case',
    check: (c) => isIndependent(c, { ...save(c), idempotencyKey: c.key.toUpperCase() }),
  },
  { name: 'another project', check: (c) => isIndependent(c, { ...save(c), apiKey: c.other }) },
  { name: 'no key', check: async (c) => isIndependent(c, withoutKey(save(c))) },
  { name: 'a batch with its items in a different order', check: reorderedBatch },
  { name: 'an update of another memory', check: updateOfAnother },
  { name: 'a rejected request, then a corrected request', check: correctedAfterRefusal },
  { name: 'a 404, then the same request', check: notFoundTwice },
  { name: 'a replay after an update', check: replayAfterUpdate },
  { name: 'a replay after a deletion', check: replayAfterDelete },
  { name: 'a repeated deletion', check: deleteTwice },
  { name: 'a 429, then the same request', check: afterLimit },
  { name: 'expiry of the key', check: afterExpiry },
  { name: 'twenty concurrent requests with different bodies', check: racingBodies },
  ...['', ' ', 'a b', 'é', 'x'.repeat(256)].map((key) => ({
    name: `the key ${JSON.stringify(key.slice(0, 5))} of ${key.length} characters`,
    check: async (c: Context) =>
      expectStatus(await c.send({ ...save(c), idempotencyKey: key }), 400),
  })),
];
