import { expect, test } from 'bun:test';
import { type OperationName, operations } from '../../sdk/contract/operations.ts';
import { documented, documentOf, jsonOf, misfit } from '../support/document.ts';
import { bodyOf, newUser, save } from '../support/http.ts';
import { requestOf } from '../support/operation-requests.ts';
import { withServer } from '../support/server.ts';
import { completeMemories, essence, importable, markOf, sendKeyed } from '../support/writes.ts';

const server = await withServer();

const canary = 'canary text';

/** The operations whose stored responses are cut down when the memory is deleted. */
const cutDown: OperationName[] = [
  ...(['save', 'update'] as const),
  ...(['ingest.support', 'ingest.document', 'ingest.chat', 'ingest.record'] as const),
];

/** Sends a request and changes what it wrote. Then returns what checks a replay of it. */
type Case = [name: string, begin: () => Promise<() => Promise<void>>];

const cases: Case[] = [
  ...cutDown.map(
    (name): Case => [
      `of ${name}, after a delete, is documented and names only the memory`,
      async () => {
        const { userId, id } = await save(server, newUser(), canary);
        const { path, body } = requestOf(name, { userId, id, text: canary });
        const names = name === 'update' ? {} : { source: canary, externalId: canary };
        const write = { method: operations[name].method, path, body: { ...body, ...names } };
        const first = await sendKeyed(server, write, userId);
        const { memoryId = id } = first.body as { memoryId?: string };
        const remove = { method: 'DELETE', path: `/v1/memories/${memoryId}` };
        bodyOf(await sendKeyed(server, remove, `${userId}-d`), 204);
        return async () => {
          const again = await sendKeyed(server, write, userId);
          const text = JSON.stringify({ id: memoryId, memoryId, deleted: true });
          expect(essence(again)).toEqual({ ...essence(first), text, etag: null });
          expect(markOf(again)).toBe('replayed');
          const { schema = {} } = jsonOf(documentOf(name).responses[again.status]);
          for (const answer of [first, again]) expect(misfit(schema, answer.body)).toBeNull();
          expect(misfit(schema, { id })).toBeString();
          const removed = await sendKeyed(server, remove, `${userId}-d`);
          expect([removed.status, markOf(removed)]).toEqual([204, 'replayed']);
          const left = (await completeMemories(server, userId)).map((one) => one.id);
          expect(left).toEqual(memoryId === id ? [] : [id]);
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

test("only responses with a memory's data have a second schema", () => {
  const several = documented.filter(({ responses }) =>
    JSON.stringify(Object.values(responses)).includes('"anyOf"'),
  );
  expect(several).toEqual(cutDown.map(documentOf));
});
