import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { memoryAt } from './command.ts';

let server: TestServer;
let memory: ReturnType<typeof memoryAt>;
beforeAll(async () => {
  server = await startTestServer();
  memory = memoryAt(server);
});
afterAll(() => server.stop());

async function fill(userId: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await server.client.save({ userId, content: 'x' });
}

const left = async (userId: string) => (await server.client.list({ userId })).items.length;
const question = 'Permanently delete all memories of u? [y/N] ';

describe('memory delete --user', () => {
  test('with --yes deletes all memories of the user and prints their number', async () => {
    await fill('many', 3);
    await fill('other', 1);
    const argv = ['delete', '--user', 'many', '--yes'];
    expect(await memory(argv)).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Deleted 3 memories of many.\n',
    });
    expect([await left('many'), await left('other')]).toEqual([0, 1]);
    expect((await memory([...argv, '--json'])).stdout).toBe('{"deleted":0}\n');
  });

  test('given twice deletes nothing: exit 2', async () => {
    await fill('first', 1);
    await fill('second', 1);
    const argv = ['delete', '-u', 'first', '--user=second', '--yes'];
    // The second run detects options that the parser keeps from the first run.
    for (const _ of [1, 2]) {
      const { code, stderr } = await memory(argv);
      expect(stderr).toStartWith('Error: --user can be given only once.\n');
      expect(code).toBe(2);
    }
    expect([await left('first'), await left('second')]).toEqual([1, 1]);
    expect((await memory(['delete', '-u', 'first', '--yes'])).code).toBe(0);
    expect((await memory(['delete', '-u', 'second', '--yes'])).code).toBe(0);
  });

  test('without --yes and without a terminal does nothing: exit 2', async () => {
    await fill('script', 1);
    const argv = ['delete', '--user', 'script'];
    for (const around of [{}, { terminal: 80, stdin: 'y\n' }, { stdin: 'y\n' }]) {
      const { code, stderr } = await memory(argv, around);
      expect(stderr).toContain('requires --yes');
      expect(code).toBe(2);
    }
    expect(await left('script')).toBe(1);
  });

  test.each(['\n', 'n\n', 'no\n', 'yess\n', '', 'u\n', 'n\ny\n'])(
    'on a terminal, %p means no: exit 1',
    async (typed) => {
      await server.client.deleteAll({ userId: 'u' });
      await fill('u', 1);
      const answer = await memory(['delete', '--user', 'u'], { terminal: 80, typed });
      expect(answer).toEqual({ code: 1, stdout: '', stderr: `${question}Nothing was deleted.\n` });
      expect(await left('u')).toBe(1);
    },
  );

  test.each(['y\n', 'YES\n', ' Yes \r\n'])('on a terminal, %p means yes', async (typed) => {
    await server.client.deleteAll({ userId: 'u' });
    await fill('u', 1);
    const answer = await memory(['delete', '--user', 'u'], { terminal: 80, typed });
    const stderr = `${question}Deleted 1 memory of u.\n`;
    expect(answer).toEqual({ code: 0, stdout: '', stderr });
    expect(await left('u')).toBe(0);
  });

  test('a repeated --idempotency-key has no further effect', async () => {
    await fill('keyed', 1);
    const argv = ['delete', '--user', 'keyed', '--yes', '--idempotency-key', 'erase-1'];
    await memory(argv);
    await fill('keyed', 1);
    expect((await memory(argv)).stderr).toBe('Deleted 1 memory of keyed.\n');
    expect(await left('keyed')).toBe(1);
  });

  test('does nothing if the question cannot be shown on a terminal: exit 2', async () => {
    await fill('unseen', 1);
    const { code, stderr } = await memory(['delete', '--user', 'unseen'], { typed: 'y\n' });
    expect(stderr).toContain('requires --yes');
    expect(code).toBe(2);
    expect(await left('unseen')).toBe(1);
  });

  test('on a terminal, Enter ends the answer, although the input stays open', async () => {
    await fill('enter', 1);
    const stdin = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(Buffer.from('y\n')),
    });
    const around = { terminal: 80, typed: '', stdin };
    expect(await memory(['delete', '--user', 'enter'], around)).toMatchObject({ code: 0 });
    expect(await left('enter')).toBe(0);
  });
});
