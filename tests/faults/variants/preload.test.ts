import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';

const preload = [join(import.meta.dir, 'preload.ts')];
const sample = new URL('thread-sample.ts', import.meta.url).href;

afterEach(() => {
  delete process.env.FAULT_VARIANTS;
});

/** Returns the first message of a thread that was started with the variants. */
function runThread(variants: string): Promise<unknown> {
  process.env.FAULT_VARIANTS = variants;
  return new Promise((resolve, reject) => {
    const thread = new Worker(sample, { preload });
    thread.onmessage = ({ data }) => {
      thread.terminate();
      resolve(data);
    };
    thread.onerror = ({ message }) => reject(new Error(message));
  });
}

test('a preload module changes SQL in the thread that loads it', async () => {
  expect(await runThread('')).toEqual({ synchronous: 2 });
  expect(await runThread('no-sync')).toEqual({ synchronous: 1 });
});

test('a thread with an unknown variant does not start', async () => {
  await expect(runThread('no-such-variant')).rejects.toThrow('unknown variant no-such-variant');
});
