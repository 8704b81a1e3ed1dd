import { describe, expect, test } from 'bun:test';
import { askRaw, bodyOf, expectInvalid, newUser } from '../support/http.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();

const fiveMiB = 5 * 1024 * 1024;
const levels = (count: number) => '['.repeat(count) + ']'.repeat(count);
const fields = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',');
const zeros = (count: number) => Array(count).fill(0).join(',');

const post = (path: string, body: string, headers = {}) =>
  askRaw(server, 'POST', path, body, headers);

const event = (data: string) => `{"userId":"u","type":"event","data":{"name":"n"${data}}}`;
const tooDeep = 'the JSON must be at most 32 levels deep';
const endpoints = ['/v1/memories', '/v1/ingest', '/v1/ingest/batch', '/v1/import'];

describe.each(endpoints)('POST %s', (path) => {
  test.each([
    ['33 levels', levels(33), tooDeep],
    ['100,000 levels', levels(100_000), tooDeep],
    ['levels that are never closed', '['.repeat(1_000), tooDeep],
    ['33 levels in an item', `{"items":[${levels(31)}]}`, tooDeep],
    ['200,001 values', `[${zeros(200_000)}]`, 'the JSON must contain at most 200000 values'],
    ['20,001 fields', `{${fields(20_001)}}`, 'a record must contain at most 20000 fields'],
  ])('returns 400 for %s', async (_, body, message) => {
    const answer = await post(path, body, { 'idempotency-key': newUser() });
    expectInvalid(answer);
    expect(answer.body).toMatchObject({ message });
  });
});

describe('bodies within the limits are validated by field', () => {
  test.each([
    ['32 levels', event(`,"k":${levels(30)}`), 'data'],
    ['many values', event(`,"k":[${zeros(199_000)}]`), 'data'],
    ['20,000 fields', `{"userId":"u","content":"x",${fields(19_998)}}`, 'k0'],
  ])('%s', async (_, body, field) => {
    expectInvalid(await post(field === 'data' ? '/v1/ingest' : '/v1/memories', body), field);
  });

  test('a batch rejects only the item that is too deep for metadata', async () => {
    const items = `${event(`,"k":${levels(20)}`)},${event('')}`;
    const answer = await post('/v1/ingest/batch', `{"items":[${items}]}`);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ accepted: 1, failedCount: 1, failed: [{ index: 0 }] });
  });

  test('a batch of 150,000 fields is accepted, also under an idempotency key', async () => {
    const items = Array.from({ length: 1_000 }, () => event(`,${fields(150)}`)).join();
    const key = { 'idempotency-key': newUser() };
    const answer = await post('/v1/ingest/batch', `{"items":[${items}]}`, key);
    expect(bodyOf<{ accepted: number }>(answer, 202).accepted).toBe(1_000);
  });

  test('brackets in a string do not count as nesting', async () => {
    const body = JSON.stringify({ userId: 'u', content: '[{"\\",'.repeat(1_000) });
    expect((await post('/v1/memories', body)).status).toBe(201);
  });
});

/** Bodies of several MiB that would block the event loop if they were parsed in one step. */
const costly: [name: string, body: string][] = [
  ['open brackets', '['.repeat(fiveMiB)],
  ['nested arrays', levels(fiveMiB / 2)],
  ['metadata keys', `{"userId":"u","content":"x","metadata":{${fields(400_000)}}}`],
  ['unknown fields', `{"userId":"u","content":"x",${fields(400_000)}}`],
  ['unknown fields in items', `{"items":[{${fields(19_000)}}${`,{${fields(19_000)}}`.repeat(8)}]}`],
];

/**
 * Returns the longest pause of the event loop, which the server and the test share. Pauses are
 * measured in CPU time, because other processes may slow this one down.
 */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  let last = cpuMs();
  let longest = 0;
  const timer = setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  await work();
  clearInterval(timer);
  return longest;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Several times the duration of one parsing step, to allow for other processes. */
const maxPauseMs = 500;

test.each(costly)('eight bodies of %s do not block the event loop', async (_, body) => {
  const bytes = new TextEncoder().encode(body);
  const send = () => askRaw(server, 'POST', '/v1/ingest/batch', bytes);
  const pauses: number[] = [];
  // Other processes can cause such a pause, but are unlikely to do so four times in a row.
  while (pauses.length < 4 && pauses.every((pause) => pause > maxPauseMs)) {
    const pause = await longestPause(async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, send));
      expect(answers.every(({ status }) => status === 400 || status === 202)).toBe(true);
    });
    pauses.push(pause);
  }
  expect(Math.min(...pauses)).toBeLessThan(maxPauseMs);
});
