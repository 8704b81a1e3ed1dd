import { describe, expect, test } from 'bun:test';
import type { BatchAccepted } from '../../sdk/contract/ingest.ts';
import type { Memory } from '../../sdk/contract/memory.ts';
import { type OperationName, operations } from '../../sdk/contract/operations.ts';
import type { Page } from '../../sdk/contract/page.ts';
import type { ApiKey } from '../../sdk/contract/project.ts';
import type { Imported } from '../../sdk/contract/transfer.ts';
import { openAdmin } from '../../server/admin.ts';
import { ask, bodyOf, expectError, importAll, newUser } from '../support/http.ts';
import {
  byUser,
  contentsOf,
  expectHidden,
  isWrite,
  named,
  newTarget,
  ofItems,
  perform,
  requestOf,
  withoutMemories,
} from '../support/operation-requests.ts';
import { type TestServer, withProject } from '../support/server.ts';
import { importable, markOf, sendKeyed } from '../support/writes.ts';

const server = await withProject();

const writes = named.filter(isWrite);
const reads = named.filter((name) => !isWrite(name));

async function keyOf(kind: { userId?: string; readOnly?: boolean }): Promise<TestServer> {
  return { ...server, key: await server.createKey('default', kind) };
}

test('every operation in the contract is tested here', () => {
  const all = Object.keys(operations) as OperationName[];
  expect(all.filter((name) => !named.includes(name))).toEqual(withoutMemories);
});

test.each(byUser.filter((name) => name !== 'export'))('%s needs a userId', async (name) => {
  const answer = await perform(server, name, { ...(await newTarget(server)), userId: null });
  expectError(answer, 400, 'invalid_request', 'userId');
});

describe('a read-only key', () => {
  test.each(reads)('can %s', async (name) => {
    const target = await newTarget(server);
    const answer = await perform(await keyOf({ readOnly: true }), name, target);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(name === 'users' ? target.userId : target.id);
  });

  test.each(writes)('cannot %s: 403, and nothing changes', async (name) => {
    const target = await newTarget(server);
    for (const kind of [{ readOnly: true }, { readOnly: true, userId: target.userId }]) {
      expectError(await perform(await keyOf(kind), name, target), 403, 'forbidden');
    }
    expect(await contentsOf(server, target.userId)).toEqual([target.text]);
  });

  test('is rejected before its body is read, without using up its idempotency key', async () => {
    const as = await keyOf({ readOnly: true });
    const request = { method: 'POST', path: '/v1/memories', body: { nonsense: true } };
    expectError(await sendKeyed(as, request, 'k-read-only'), 403, 'forbidden');
    const body = { userId: newUser(), content: 'x' };
    expect((await sendKeyed(server, { ...request, body }, 'k-read-only')).status).toBe(201);
  });

  test('gets the usual errors for unknown routes and methods', async () => {
    const as = await keyOf({ readOnly: true });
    expectError(await ask(as, 'POST', '/v1/nope'), 404, 'not_found');
    expectError(await ask(as, 'PUT', '/v1/memories'), 405, 'method_not_allowed');
    expect((await ask(as, 'HEAD', '/v1/users')).status).toBe(200);
  });
});

describe('a key that is bound to a user', () => {
  test.each(named)('can %s for its own user', async (name) => {
    const target = await newTarget(server);
    const answer = await perform(await keyOf(target), name, target);
    expect(answer.status).toBeWithin(200, 300);
    if (ofItems.includes(name)) expect(answer.body).toMatchObject({ failedCount: 0 });
    if (!isWrite(name)) {
      expect(answer.text).toContain(name === 'users' ? target.userId : target.id);
    }
  });

  test.each(byUser)('defaults to its own user if %s omits the user', async (name) => {
    const [target, bystander] = [await newTarget(server), await newTarget(server)];
    const answer = await perform(await keyOf(target), name, { ...target, userId: null });
    expect(answer.status).toBeWithin(200, 300);
    if (!isWrite(name)) expect(answer.text).toContain(target.id);
    expectHidden(answer, bystander);
    const changed = name === 'deleteAll' ? 0 : isWrite(name) ? 2 : 1;
    expect(await contentsOf(server, target.userId)).toHaveLength(changed);
    expect(await contentsOf(server, bystander.userId)).toEqual([bystander.text]);
  });

  test.each(byUser)('cannot %s for another user: 403, and nothing changes', async (name) => {
    const [own, other] = [await newTarget(server), await newTarget(server)];
    const answer = await perform(await keyOf(own), name, other);
    expectError(answer, 403, 'forbidden');
    expectHidden(answer, other);
    expect(await contentsOf(server, other.userId)).toEqual([other.text]);
    expect(await contentsOf(server, own.userId)).toEqual([own.text]);
  });

  test.each(ofItems)('can %s its own items, and only items of another user fail', async (name) => {
    const [own, other] = [await newTarget(server), await newTarget(server)];
    const itemsFor = (userId: string | null) => {
      const { body } = requestOf(name, { ...own, userId });
      return (body as { items: object[] }).items;
    };
    const items = [other.userId, own.userId, null].flatMap(itemsFor);
    const { path } = operations[name];
    const answer = await ask(await keyOf(own), 'POST', path, { body: { items } });
    const { failedCount, failed } = answer.body as BatchAccepted | Imported;
    expect(failed).toEqual([{ index: 0, error: 'forbidden', message: expect.any(String) }]);
    expect(failedCount).toBe(1);
    expect(await contentsOf(server, own.userId)).toHaveLength(3);
    expect(await contentsOf(server, other.userId)).toEqual([other.text]);
  });

  describe('import', () => {
    async function importAs(as: TestServer, item: Memory): Promise<[number, number]> {
      const { imported, skipped } = await importAll(as, [item]);
      return [imported, skipped];
    }

    test('cannot tell whether another user has a memory with the id, nor take it', async () => {
      const [own, other] = [await newTarget(server), await newTarget(server)];
      const as = await keyOf(own);
      const later = importable(newUser());
      for (const id of [other.id, later.id]) {
        const item = { ...importable(own.userId), id };
        expect(await importAs(as, item)).toEqual([1, 0]);
        expect(await importAs(as, item)).toEqual([0, 1]);
        expect((await ask(as, 'GET', `/v1/memories/${id}`)).status).toBe(404);
      }
      expect(await contentsOf(server, own.userId)).toHaveLength(3);
      expect(await contentsOf(server, other.userId)).toEqual([other.text]);
      expect(await importAs(as, later)).toEqual([0, 0]);
      expect(await importAs(server, later)).toEqual([1, 0]);
      expect(await contentsOf(server, later.userId)).toEqual([later.content]);
      const third = newUser();
      const copy = { ...later, userId: third };
      expect(await importAs(await keyOf({ userId: third }), copy)).toEqual([1, 0]);
    });

    test('skips what its user has, and restores what was deleted', async () => {
      const own = await newTarget(server);
      const as = await keyOf(own);
      const page = bodyOf<Page>(await ask(as, 'GET', '/v1/export'), 200);
      const [item = importable('none')] = page.items;
      expect(await importAs(as, item)).toEqual([0, 1]);
      await server.client.delete(own.id);
      expect(await importAs(as, item)).toEqual([1, 0]);
      expect(await importAs(as, item)).toEqual([0, 1]);
      const { items } = await server.client.list({ userId: own.userId });
      expect(items).toEqual([{ ...item, id: expect.stringMatching(/^mem_/) }]);
    });
  });

  test('shares idempotency keys only with the API keys of its user', async () => {
    const [own, other] = [newUser(), newUser()];
    const key = crypto.randomUUID();
    const request = { method: 'POST', path: '/v1/memories', body: { content: 'x' } };
    const first = await sendKeyed(await keyOf({ userId: own }), request, key);
    const again = await sendKeyed(await keyOf({ userId: own }), request, key);
    expect(again.text).toBe(first.text);
    expect(markOf(again)).toBe('replayed');
    const theirs = await sendKeyed(await keyOf({ userId: other }), request, key);
    expect(markOf(theirs)).toBe('created');
    const body = { userId: own, content: 'x' };
    const ofProject = await sendKeyed(server, { ...request, body }, key);
    expect(markOf(ofProject)).toBe('created');
  });

  test('gets a validation error for a userId or a body of another type', async () => {
    const as = await keyOf({ userId: newUser() });
    for (const userId of [null, 1, ['x'], {}]) {
      const answer = await ask(as, 'POST', '/v1/memories', { body: { userId, content: 'x' } });
      expectError(answer, 400, 'invalid_request', 'userId');
    }
    for (const body of [null, 1, 'x', []]) {
      const saved = await ask(as, 'POST', '/v1/memories', { body });
      expectError(saved, 400, 'invalid_request', '');
      const answer = await ask(as, 'POST', '/v1/ingest/batch', { body: { items: [body] } });
      const { failed } = bodyOf<BatchAccepted>(answer, 202);
      expect(failed).toMatchObject([{ index: 0, error: 'invalid_request' }]);
    }
  });
});

test('GET /v1/key returns the properties of the key', async () => {
  const expiresAt = Date.now() + 3_600_000;
  const admin = await openAdmin(server.databaseUrl);
  const kind = { userId: 'ada', readOnly: true, expiresAt };
  const { key } = await admin.createKey({ name: 'desktop', project: 'shop', ...kind });
  await admin.close();
  const answer = await ask({ ...server, key }, 'GET', '/v1/key');
  expect(bodyOf<ApiKey>(answer, 200)).toEqual({
    project: 'shop',
    name: 'desktop',
    lastFour: key.slice(-4),
    userId: 'ada',
    readOnly: true,
    expiresAt: new Date(expiresAt).toISOString(),
  });
  expect(answer.text).not.toContain(key);
});
