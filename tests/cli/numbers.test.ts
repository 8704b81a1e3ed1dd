import { expect, test } from 'bun:test';
import { lines, withMemory } from './command.ts';

/* `1e999` is valid JSON, but JavaScript parses it as Infinity and would send it as null. */

const { server, memory } = await withMemory();

const words = 'must not contain a number outside the range of a double';
const event = (n: string) =>
  `{"type":"event","userId":"num","metadata":{"n":[${n}]},"data":{"name":"x"}}`;

test('a number outside the range in a line is reported, with and without --dry-run', async () => {
  const stdin = [event('1'), event('-1e999'), event('2')].join('\n');
  for (const more of [['--dry-run'], []]) {
    const { code, stderr } = await memory(['ingest', 'batch', '-', ...more], { stdin });
    expect(lines(stderr)[0]).toBe(`line 2: ${words}`);
    expect(code).toBe(1);
  }
  expect((await server.client.list({ userId: 'num' })).items).toHaveLength(2);
});

test('a number outside the range in a single record or an array is rejected', async () => {
  for (const stdin of [event('1e400'), `[${event('1')},${event('1e400')}]`]) {
    const ran = await memory(['ingest', 'record', '-'], { stdin });
    expect(ran).toMatchObject({ code: 1, stderr: `Error: The input ${words}.\n` });
  }
});
