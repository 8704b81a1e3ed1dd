import { expect, test } from 'bun:test';
import type { Accepted } from '../../sdk/contract/ingest.ts';
import type { SavedMemory } from '../../sdk/contract/memory.ts';
import { ask, bodyOf, expectError, newUser } from '../support/http.ts';
import { withServer } from '../support/server.ts';
import {
  completeMemories,
  essence,
  importable,
  markOf,
  saveOf,
  sendKeyed,
} from '../support/writes.ts';

/* Replays after the memory has been changed or deleted, with and without a restart in between. */

const server = await withServer();

const canary = 'canary text';

function updateOf(id: string, content: string) {
  return { method: 'PATCH', path: `/v1/memories/${id}`, body: { content } };
}

function deleteOf(id: string) {
  return { method: 'DELETE', path: `/v1/memories/${id}` };
}

/** The requests that ingest one record: the path, and the fields beside the user and the key. */
const ingests: [path: string, more: object][] = [
  ['/v1/ingest/support', { data: { subject: canary, comments: [] } }],
  ['/v1/ingest/document', { data: { text: canary } }],
  ['/v1/ingest/chat', { messages: [{ role: 'user', content: canary }] }],
  ['/v1/ingest', { type: 'event', data: { name: canary } }],
];

/** Sends a request and changes what it wrote. Then returns what checks a replay of it. */
type Case = [name: string, begin: () => Promise<() => Promise<void>>];

const cases: Case[] = [
  [
    'of a save or an update, after a delete, has the old status but no text',
    async () => {
      const userId = newUser();
      const saved = await sendKeyed(server, saveOf(userId, canary), userId);
      const { id } = bodyOf<SavedMemory>(saved, 201);
      const update = updateOf(id, `${canary} 2`);
      bodyOf(await sendKeyed(server, update, `${userId}-u`), 200);
      bodyOf(await sendKeyed(server, deleteOf(id), `${userId}-d`), 204);
      return async () => {
        const cut = { id, memoryId: id, deleted: true };
        const again = [
          await sendKeyed(server, saveOf(userId, canary), userId),
          await sendKeyed(server, update, `${userId}-u`),
        ];
        expect(again.map(({ status }) => status)).toEqual([201, 200]);
        expect(again.map(({ body }) => body)).toEqual([cut, cut]);
        expect(again.map(markOf)).toEqual(['replayed', 'replayed']);
        const deleted = await sendKeyed(server, deleteOf(id), `${userId}-d`);
        expect([deleted.status, markOf(deleted)]).toEqual([204, 'replayed']);
        expect(await completeMemories(server, userId)).toEqual([]);
      };
    },
  ],
  ...ingests.map(
    ([path, more]): Case => [
      `of POST ${path}, after a delete, names only the memory and creates none`,
      async () => {
        const userId = newUser();
        const body = { userId, source: canary, externalId: canary, ...more };
        const request = { method: 'POST', path, body };
        const first = await sendKeyed(server, request, userId);
        const { memoryId } = bodyOf<Accepted>(first, 202);
        bodyOf(await ask(server, 'DELETE', `/v1/memories/${memoryId}`), 204);
        return async () => {
          const again = await sendKeyed(server, request, userId);
          const text = JSON.stringify({ id: memoryId, memoryId, deleted: true });
          expect(essence(again)).toEqual({ ...essence(first), text });
          expect(await completeMemories(server, userId)).toEqual([]);
        };
      },
    ],
  ),
  ...['/v1/ingest/batch', '/v1/import'].map(
    (path): Case => [
      `of POST ${path}, after an erasure, is the first response without data`,
      async () => {
        const userId = newUser();
        const externalKey = { userId, source: canary, externalId: canary };
        const item =
          path === '/v1/import'
            ? { ...importable(userId), ...externalKey, content: canary }
            : { type: 'document', ...externalKey, data: { text: canary } };
        const items = [item, { ...item, source: 1 }];
        const request = { method: 'POST', path, body: { items } };
        const first = await sendKeyed(server, request, userId);
        expect(first.body).toMatchObject({ failedCount: 1 });
        await server.client.deleteAll({ userId });
        return async () => {
          const again = await sendKeyed(server, request, userId);
          expect(essence(again)).toEqual(essence(first));
          expect(again.text).not.toContain(canary);
          expect(await completeMemories(server, userId)).toEqual([]);
        };
      },
    ],
  ),
  [
    'of a used key with another request, after a delete, is rejected',
    async () => {
      const userId = newUser();
      const { id } = bodyOf<SavedMemory>(
        await sendKeyed(server, saveOf(userId, canary), userId),
        201,
      );
      bodyOf(await ask(server, 'DELETE', `/v1/memories/${id}`), 204);
      return async () => {
        const other = await sendKeyed(server, updateOf(id, 'x'), userId);
        expectError(other, 400, 'idempotency_key_reused');
      };
    },
  ],
];

test.each(cases)('a replay %s', async (_, begin) => {
  await (await begin())();
});

test('all of these are the same after a restart', async () => {
  const checks: (() => Promise<void>)[] = [];
  for (const [, begin] of cases) checks.push(await begin());
  await server.restart();
  for (const check of checks) await check();
});
