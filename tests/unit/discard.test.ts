import { expect, test } from 'bun:test';
import { createDiscard } from '../../server/http/discard.ts';

const limits = { maxBytes: 100, maxMs: 10_000, maxConcurrent: 2 };

const stalled = () => new ReadableStream<Uint8Array>();

function bodyOf(...chunks: number[]): ReadableStream<Uint8Array> {
  return new Response(new Blob(chunks.map((bytes) => new Uint8Array(bytes)))).body ?? stalled();
}

test('a body within the limits is read to its end', async () => {
  expect(await createDiscard(limits)(bodyOf(60, 40))).toBe(true);
});

test('a body over the limit is not read to its end', async () => {
  expect(await createDiscard(limits)(bodyOf(60, 41))).toBe(false);
});

test('a body that takes too long is abandoned', async () => {
  expect(await createDiscard({ ...limits, maxMs: 1 })(stalled())).toBe(false);
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
  expect(await Promise.all([discard(bodyOf(1)), discard(bodyOf(1))])).toEqual([true, true]);
});
