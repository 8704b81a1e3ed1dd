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

test('a key is rejected from the exact millisecond of its expiry, even if it was just used', async () => {
  at = Date.now();
  const expiresAt = at + 1;
  const key = await createKey(expiresAt);
  expect((await list(key)).status).toBe(200);
  expect((await list(await createKey(null))).status).toBe(200);
  at = expiresAt;
  expectError(await list(key), 401, 'unauthorized');
  at = null;
});

test('an expired or revoked key gets the same error as an unknown key', async () => {
  const revoked = await createKey(null);
  const admin = await openAdmin(server.databaseUrl);
  const keys = await admin.listKeys();
  await admin.revokeKey(keys.at(-1)?.id ?? '');
  await admin.close();
  for (const key of [revoked, await createKey(Date.now() - 1), 'mk_unknown']) {
    const answer = await list(key);
    expectError(answer, 401, 'unauthorized');
    expect(answer.text).toContain('the API key is unknown, expired or revoked');
  }
});
