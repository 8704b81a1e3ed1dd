import { describe, expect, test } from 'bun:test';
import { expectRan, withMemory } from './command.ts';

const { server, memory } = await withMemory();

async function fill(userId: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await server.client.save({ userId, content: 'x' });
}

const left = async (userId: string) => (await server.client.list({ userId })).items.length;
const question = 'Permanently delete all memories of u? [y/N] ';

describe('memory delete --user', () => {
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

  test('does nothing if the question cannot be shown on a terminal: exit 2', async () => {
    await fill('unseen', 1);
    expectRan(await memory(['delete', '--user', 'unseen'], { typed: 'y\n' }), 2, 'requires --yes');
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
