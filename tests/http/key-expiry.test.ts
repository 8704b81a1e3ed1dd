import { expect, test } from 'bun:test';
import { openAdmin } from '../../server/admin.ts';
import { ask, expectError } from '../support/http.ts';
import { startTestServer, withServer } from '../support/server.ts';

const server = await withServer();

async function createKey(expiresAt: number | null, { databaseUrl } = server): Promise<string> {
  const admin = await openAdmin(databaseUrl);
  const { key } = await admin.createKey({ name: 'short', project: 'default', expiresAt });
  await admin.close();
  return key;
}

function list(key: string, of = server) {
  const headers = { authorization: `Bearer ${key}` };
  return ask(of, 'GET', '/v1/memories?userId=u', { headers });
}

test('an expired key is rejected on its first use', async () => {
  expectError(await list(await createKey(Date.now() - 1)), 401, 'unauthorized');
});

test('a key is rejected from the exact millisecond of its expiry, even if it was just used', async () => {
  let at = Date.now();
  const own = await startTestServer({}, [], { now: () => at });
  const expiresAt = at + 1;
  const key = await createKey(expiresAt, own);
  expect((await list(key, own)).status).toBe(200);
  at = expiresAt;
  expectError(await list(key, own), 401, 'unauthorized');
  await own.stop();
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
