import { expect, test } from 'bun:test';
import { createDiscard } from '../../server/http/discard.ts';

const limits = { maxBytes: 100, maxMs: 10_000, maxConcurrent: 2 };

const stalled = () => new ReadableStream<Uint8Array>();

function bodyOf(...chunks: number[]): ReadableStream<Uint8Array> {
  return new Response(new Blob(chunks.map((bytes) => new Uint8Array(bytes)))).body ?? stalled();
}

test.each<[what: string, body: ReadableStream<Uint8Array>, maxMs: number, isRead: boolean]>([
  ['within the limits is read to its end', bodyOf(60, 40), 10_000, true],
  ['over the limit is not read to its end', bodyOf(60, 41), 10_000, false],
  ['that takes too long is abandoned', stalled(), 1, false],
])('a body %s', async (_, body, maxMs, isRead) => {
  expect(await createDiscard({ ...limits, maxMs })(body)).toBe(isRead);
});

test('only so many bodies are read at a time', async () => {
  const discard = createDiscard(limits);
  const open: ReadableStreamDefaultController<Uint8Array>[] = [];
  const waiting = () =>
    new ReadableStream<Uint8Array>({ start: (controller) => void open.push(controller) });
  const [first, second] = [discard(waiting()), discard(waiting())];
  expect(await discard(bodyOf(1))).toBe(false);
  open[0]?.close();
  expect(await first).toBe(true);
  expect(await discard(bodyOf(1))).toBe(true);
  open[1]?.error(new Error('the client closed the connection'));
  expect(await second).toBe(false);
  const more = Array.from({ length: 3 }, () => discard(bodyOf(1)));
  expect(await Promise.all(more)).toEqual([true, true, false]);
});
