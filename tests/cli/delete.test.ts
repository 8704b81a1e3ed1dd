import { describe, expect, test } from 'bun:test';
import { expectRan, withMemory } from './command.ts';

const { server, memory } = await withMemory();

async function fill(userId: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await server.client.save({ userId, content: 'x' });
}

const left = async (userId: string) => (await server.client.list({ userId })).items.length;
const question = 'Permanently delete all memories of u? [y/N] ';

describe('memory delete --user', () => {
  test.each([
    ...['\n', 'n\n', 'no\n', 'yess\n', '', 'u\n', 'n\ny\n'].map((typed) => [typed, false] as const),
    ...['y\n', 'YES\n', ' Yes \r\n'].map((typed) => [typed, true] as const),
  ])('on a terminal, %p means yes: %p', async (typed, isYes) => {
    await server.client.deleteAll({ userId: 'u' });
    await fill('u', 1);
    const ran = await memory(['delete', '--user', 'u'], { terminal: 80, typed });
    const said = isYes ? 'Deleted 1 memory of u.' : 'Nothing was deleted.';
    expect(ran).toEqual({ code: isYes ? 0 : 1, stdout: '', stderr: `${question}${said}\n` });
    expect(await left('u')).toBe(isYes ? 0 : 1);
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
