import { expect, test } from 'bun:test';
import { openAdmin } from '../../server/admin.ts';
import { ask, expectError } from '../support/http.ts';
import { withServer } from '../support/server.ts';

let at: number | null = null;
const server = await withServer({}, [], { now: () => at ?? Date.now() });

async function createKey(expiresAt: number | null): Promise<string> {
  const admin = await openAdmin(server.databaseUrl);
  const { key } = await admin.createKey({ name: 'short', project: 'default', expiresAt });
  await admin.close();
  return key;
}

function list(key: string) {
  const headers = { authorization: `Bearer ${key}` };
  return ask(server, 'GET', '/v1/memories?userId=u', { headers });
}

test('an expired key is rejected on its first use', async () => {
  expectError(await list(await createKey(Date.now() - 1)), 401, 'unauthorized');
});

test('a key is rejected from the exact millisecond of its expiry, even if it was just used', async () => {
  at = Date.now();
  const expiresAt = at + 1;
  const key = await createKey(expiresAt);
  expect((await list(key)).status).toBe(200);
  at = expiresAt;
  expectError(await list(key), 401, 'unauthorized');
  at = null;
});

test('a key that expires later or never is accepted', async () => {
  expect((await list(await createKey(Date.now() + 3_600_000))).status).toBe(200);
  expect((await list(await createKey(null))).status).toBe(200);
});

test('an expired or revoked key gets the same error as an unknown key', async () => {
  const revoked = await createKey(null);
  const admin = await openAdmin(server.databaseUrl);
  const keys = await admin.listKeys();
  await admin.revokeKey(keys.at(-1)?.id ?? '');
  await admin.close();
  for (const key of [revoked, await createKey(Date.now() - 1), 'mk_unknown']) {
    const { body } = await list(key);
    expect(body).toMatchObject({ message: 'the API key is unknown, expired or revoked' });
  }
});
