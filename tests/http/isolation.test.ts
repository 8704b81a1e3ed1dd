import { describe, expect, test } from 'bun:test';
import { operations } from '../../sdk/contract/operations.ts';
import { type Answer, ask, expectError, importAll, newUser } from '../support/http.ts';
import {
  byId,
  byUser,
  contentsOf,
  expectHidden,
  newTarget,
  perform,
} from '../support/operation-requests.ts';
import { type TestServer, withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';

const server = await withProject();
const theirs = { ...server, key: await server.createKey('strangers') };

/** A response without what always differs: the request id and the date. */
function comparable({ status, headers, text }: Answer) {
  const kept = [...headers].filter(([name]) => !/^(date|x-request-id)$/i.test(name));
  return { status, headers: kept, text: text.replace(/req_\w+/, 'req_') };
}

const bound = { ...server, key: await server.createKey('default', { userId: newUser() }) };
const strangers: [kind: string, as: TestServer][] = [
  ['of another project', theirs],
  ['that is bound to another user', bound],
];

describe.each(strangers)('for a key %s', (_, as) => {
  test.each(byId)('%s finds no memory, whatever else the request has', async (name) => {
    const target = await newTarget(server);
    const { userId, text } = target;
    const { memoryId } = await server.client.ingest.document({ userId, data: { text } });
    await server.client.waitUntilComplete(memoryId);
    const { method, path } = operations[name];
    const bodies =
      method === 'PATCH' ? [{ content: 'mine now' }, { content: '' }, {}] : [undefined];
    for (const id of [target.id, memoryId]) {
      const before = await server.client.get(id);
      for (const query of ['', '?nonsense=1']) {
        for (const body of bodies) {
          const headers = { 'idempotency-key': crypto.randomUUID() };
          const options = { headers, ...(body && { body }) };
          const send = (at: string) => ask(as, method, path.replace(':id', at) + query, options);
          const answer = await send(id);
          expectError(answer, 404, 'not_found');
          expect(comparable(answer)).toEqual(comparable(await send('mem_none')));
          expectHidden(answer, target);
        }
      }
      expect(await server.client.get(id)).toEqual(before);
    }
  });

  test('the whole project shows nothing of others', async () => {
    const target = await newTarget(server);
    const { userId, text: content } = target;
    const lost = { ...importable(userId), id: `${target.id}-lost`, content };
    await importAll(server, [{ ...lost, status: 'failed' }]);
    for (const path of ['/v1/export', '/v1/users?limit=100', '/v1/tasks?status=failed']) {
      expectHidden(await ask(as, 'GET', path), target);
    }
    const body = { memoryIds: [target.id] };
    const statuses = await ask(as, 'POST', '/v1/memories/status', { body });
    expect(statuses.body).toEqual({ items: [], notFound: [target.id] });
  });
});

test.each(byUser.filter((name) => !/^(?:save|ingest)/.test(name)))(
  '%s of a user of another project responds as for an unknown user',
  async (name) => {
    const target = await newTarget(server);
    const answer = await perform(theirs, name, target);
    const unknown = await perform(theirs, name, { ...target, userId: newUser() });
    expect(comparable(answer)).toEqual(comparable(unknown));
    expectHidden(answer, { ...target, userId: null });
    expect(await contentsOf(server, target.userId)).toEqual([target.text]);
  },
);
