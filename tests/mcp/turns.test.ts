import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { withServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { call, messagesTo } from './messages.ts';

/* The calls of one project do not occupy the MCP thread. */

const server = await withServer({}, [join(import.meta.dir, 'more-tools.ts')]);
/** The key of another project. */
const other = { authorization: `Bearer ${await server.createKey('other')}` };
const post = messagesTo(() => server);

/** Calls a tool in another project than that of `server.key`. */
async function elsewhere(tool: string): Promise<string> {
  const { json } = await post('/mcp/users/u', call(tool, {}), other);
  return json.result.content[0].text;
}

async function waiting(count: number): Promise<void> {
  await until(async () => Number(await elsewhere('count')) >= count, { what: 'waiting calls' });
}

test('four calls of a project run at the same time, and the others wait in order', async () => {
  const ended: number[] = [];
  const calls = Array.from({ length: 6 }, async (_, index) => {
    const { json } = await post('/mcp/users/u', call('wait', {}));
    ended.push(index);
    return json.result.content[0].text;
  });
  await waiting(4);
  // By now, the others have arrived, too.
  for (let count = 0; count < 10; count += 1) expect(await elsewhere('count')).toBe('4');
  await elsewhere('release');
  await waiting(2);
  expect(await elsewhere('count')).toBe('2');
  expect(ended.toSorted()).toEqual([0, 1, 2, 3]);
  await elsewhere('release');
  expect(await Promise.all(calls)).toEqual(Array(6).fill('released'));
});

test('waiting messages of a project have a limit in bytes, and other projects are served', async () => {
  const calls = Array.from({ length: 4 }, () => post('/mcp/users/u', call('wait', {})));
  await waiting(4);
  const content = 'x'.repeat(1_000_000);
  const refused: Awaited<ReturnType<typeof post>>[] = [];
  const saves = Array.from({ length: 6 }, async () => {
    const answer = await post('/mcp/users/u', { ...call('save_memory', { content }), id: 9 });
    if (answer.status === 503) refused.push(answer);
    return answer;
  });
  // The others wait for the calls, which nothing has released yet.
  const { headers, json } = await until(() => (refused.length === 2 ? refused[0] : null));
  expect(json.id).toBe(9);
  expect(json.error).toMatchObject({ data: { error: 'unavailable' } });
  expect(headers.get('retry-after')).toBe('1');
  expect(await elsewhere('count')).toBe('4');
  await elsewhere('release');
  const statuses = (await Promise.all([...calls, ...saves])).map((answer) => answer.status);
  expect(statuses.filter((one) => one === 503)).toHaveLength(2);
});
