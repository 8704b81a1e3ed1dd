import { expect, test } from 'bun:test';
import { withMemory } from './command.ts';

/* A replay after the memory has been deleted must not report the memory as existing. */

const { server, memory } = await withMemory();

const user = ['--user', 'replay'];

test.each([
  ['saved', ['save', ...user, 'text']],
  ['ingested', ['ingest', 'chat', ...user, '-']],
  ['ingested', ['ingest', 'chat', ...user, '-', '--wait']],
])('a replay of a deleted memory that was %s: nothing on stdout, exit 1', async (_, words) => {
  const argv = [...words, '--idempotency-key', words.join('')];
  const around = { stdin: '[{"role":"user","content":"Hi"}]' };
  const first = await memory(argv, around);
  expect(first.code).toBe(0);
  const id = first.stdout.trim();
  expect((await memory(argv, around)).code).toBe(0);
  await server.client.delete(id);
  const { code, stdout, stderr } = await memory(argv, around);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toStartWith(
    `Error: Nothing was stored: an earlier request with this idempotency key stored ${id}, ` +
      'which has since been deleted.\nTo store it again, pass another --idempotency-key.\n',
  );
  const json = await memory([...argv, '--json'], around);
  expect(JSON.parse(json.stdout).error).toMatchObject({ code: 'deleted_since' });
  expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 1, stderr: '' });
});

test('a replayed update of a deleted memory: nothing on stdout, exit 1', async () => {
  const { id } = await server.client.save({ userId: 'replay', content: 'a' });
  const argv = ['update', id, 'b', '--idempotency-key', 'update-1'];
  expect((await memory(argv)).code).toBe(0);
  await server.client.delete(id);
  const { code, stdout, stderr } = await memory(argv);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(
    `Nothing was stored: an earlier request with this idempotency key stored ${id},`,
  );
});
