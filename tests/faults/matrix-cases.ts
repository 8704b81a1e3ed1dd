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
    name: 'the same JSON in another order and spacing',
    check: (c) => replays(c, post('/v1/memories', { content: 'first', userId: c.userId }, c.key)),
  },
  {
    name: 'another key of the project',
    check: (c) => replays(c, { ...save(c), apiKey: c.rotated }),
  },
  { name: 'other content', check: (c) => isRefused(c, save(c, { content: 'second' })) },
  { name: 'one field more', check: (c) => isRefused(c, save(c, { metadata: { a: 1 } })) },
  { name: 'a default spelled out', check: (c) => isRefused(c, save(c, { metadata: {} })) },
  {
    name: 'another route',
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
    name: 'the key in capitals',
    check: (c) => isIndependent(c, { ...save(c), idempotencyKey: c.key.toUpperCase() }),
  },
  { name: 'another project', check: (c) => isIndependent(c, { ...save(c), apiKey: c.other }) },
  { name: 'no key at all', check: async (c) => isIndependent(c, withoutKey(save(c))) },
  { name: 'a batch with its items in another order', check: reorderedBatch },
  { name: 'the update of another memory', check: updateOfAnother },
  { name: 'a refused request, then a corrected one', check: correctedAfterRefusal },
  { name: 'a 404, then the same request again', check: notFoundTwice },
  { name: 'a replay after an update', check: replayAfterUpdate },
  { name: 'a replay after the deletion', check: replayAfterDelete },
  { name: 'a deletion twice', check: deleteTwice },
  { name: 'a 429, then the same request', check: afterLimit },
  { name: 'expiry', check: afterExpiry },
  { name: 'twenty different bodies at once', check: racingBodies },
  ...['', ' ', 'a b', 'é', 'x'.repeat(256)].map((key) => ({
    name: `the key ${JSON.stringify(key.slice(0, 5))} of ${key.length} characters`,
    check: async (c: Context) =>
      expectStatus(await c.send({ ...save(c), idempotencyKey: key }), 400),
  })),
];
