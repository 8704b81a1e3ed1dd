import { expect, test } from 'bun:test';
import { createSender } from '../../server/http/response.ts';

const MiB = 1024 * 1024;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Sends responses of one project, which may have 64 Mi characters that are not read yet. */
function sendTo(sender: ReturnType<typeof createSender>) {
  return async (length: number): Promise<ReadableStream> => {
    const sent = await sender.pieces({ headers: {} }, { projectId: 1 }, ['x'.repeat(length)]);
    if (typeof sent === 'string' || sent.body === null) throw new Error('the response is small');
    return sent.body;
  };
}

test('a client that goes before it has read the last slice frees its share only once', async () => {
  const send = sendTo(createSender());
  const reader = (await send(0.375 * MiB)).getReader();
  await reader.read();
  // The stream has taken the last slice, which has not been read.
  await settle();
  await settle();
  await reader.cancel();
  const large = await send(64 * MiB);
  let isSent = false;
  const small = send(0.375 * MiB).finally(() => {
    isSent = true;
  });
  await settle();
  expect(isSent).toBe(false);
  await large.cancel();
  await (await small).cancel();
});
