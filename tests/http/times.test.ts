import { describe, expect, test } from 'bun:test';
import { type Answer, ask, bodyOf, newUser } from '../support/http.ts';
import { withProject } from '../support/server.ts';

const userId = newUser();
const days = ['2026-04-30T23:59:59.999Z', '2026-05-01', '2026-05-15T10:00:00+02:00', '2026-06-01'];
const server = await withProject();
for (const [index, occurredAt] of days.entries()) {
  await server.client.save({ userId, content: `trip ${index}`, occurredAt });
}
await server.client.save({ userId, content: 'trip now' });

const reads: [route: string, (query: string) => Promise<Answer>][] = [
  ['GET /v1/memories', (query) => ask(server, 'GET', `/v1/memories?userId=${userId}&${query}`)],
  [
    'GET /v1/memories/search',
    (query) => ask(server, 'GET', `/v1/memories/search?userId=${userId}&query=trip&${query}`),
  ],
];

describe.each(reads)('%s', (_, read) => {
  async function found(query: string): Promise<string[]> {
    const { items } = bodyOf<{ items: { content: string }[] }>(await read(query), 200);
    return items.map(({ content }) => content.slice('trip '.length)).sort();
  }

  test.each([
    ['from=2026-05-01&to=2026-06-01', ['1', '2']],
    ['from=2026-05-01T00:00:00.001Z&to=2026-06-01T00:00:00.001Z', ['2', '3']],
    ['to=2026-05-01', ['0']],
    ['from=2026-05-15T08:00:00Z&to=2026-05-15T08:00:00.001Z', ['2']],
    ['from=2026-06-01&to=2026-06-01', []],
    ['from=2026-06-02', ['now']],
  ])('%s finds memories by occurredAt, or createdAt if there is none', async (query, expected) => {
    expect(await found(query)).toEqual(expected);
  });
});
