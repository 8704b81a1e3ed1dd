import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { openAdmin } from '../../server/admin.ts';
import { ask } from '../support/http.ts';
import { withServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const text = 'text-that-no-log-may-hold';
const idempotencyKey = 'idempotency-key-that-no-log-may-hold';
const lines: string[] = [];
const errors: string[] = [];
const keys: string[] = [];

const log = (line: string) => void lines.push(line);
const server = await withServer({ LOG_LEVEL: 'debug' }, [], { log });

async function sendAs(key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'idempotency-key': idempotencyKey };
  const body = { userId: text, content: text };
  const sent: [method: string, path: string, body?: object][] = [
    ['POST', '/v1/memories', body],
    ['POST', '/v1/memories', { ...body, content: `${text} 2` }],
    ['POST', '/v1/memories', { ...body, metadata: text }],
    ['POST', '/v1/ingest/document', { userId: text, data: { text } }],
    ['POST', '/v1/ingest/batch', { items: [{ userId: text, type: text }] }],
    ['PATCH', `/v1/memories/${text}`, { content: text }],
    ['GET', `/v1/memories/search?userId=${text}&query=${text}&mode=${text}`],
    ['GET', `/v1/memories?userId=${text}&cursor=${text}`],
    ['DELETE', `/v1/memories/${text}`],
  ];
  for (const [method, path, more] of sent) {
    const answer = await ask(server, method, path, { headers, ...(more && { body: more }) });
    if (answer.status >= 400) errors.push(answer.text);
  }
}

test('a key is rejected within a second after another process has revoked it', async () => {
  const admin = await openAdmin(server.databaseUrl);
  const { id, key } = await admin.createKey({ name: 'revoked', project: 'default' });
  const headers = { authorization: `Bearer ${key}` };
  const isRejected = async () =>
    (await ask(server, 'GET', '/v1/memories/none', { headers })).status === 401;
  expect(await isRejected()).toBe(false);
  await admin.revokeKey(id);
  await admin.close();
  await until(isRejected, { timeoutMs: 1_000, what: 'the rejection of the key' });
  keys.push(key);
});

test('the log and the errors contain no key, text or idempotency key', async () => {
  keys.push(server.key, await server.createKey('default'), await server.createKey('other'));
  for (const key of keys) await sendAs(key);
  expect(errors.length).toBeGreaterThan(10);
  const requests = () => lines.filter((line) => line.includes('"message":"request"'));
  await until(() => requests().length > keys.length * 9, { what: 'the log' });
  for (const secret of [...keys, text, idempotencyKey]) {
    expect(lines.join('\n')).not.toContain(secret);
    expect(errors.join('\n')).not.toContain(secret);
  }
});

test.skipIf(process.env.TEST_BACKEND === 'postgres')('the database contains no key', () => {
  const path = server.databaseUrl.slice('sqlite:'.length);
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  const stored = files.map((file) => readFileSync(file, 'latin1')).join('');
  expect(stored).toContain(text);
  for (const key of keys) expect(stored).not.toContain(key);
});
