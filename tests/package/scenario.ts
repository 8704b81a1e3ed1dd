import type * as Sdk from 'memory-service-sdk';

/* Uses the SDK as an application does, with only the APIs that every tested runtime has. */

export type Access = { baseUrl: string; apiKey: string; userId: string };

/** Calls most operations, and throws if one of them does not behave as documented. */
export async function scenario(sdk: typeof Sdk, access: Access): Promise<string> {
  const attempts: string[] = [];
  const memory = new sdk.MemoryClient({
    ...access,
    onAttempt: ({ operation }) => attempts.push(operation),
  });
  await saveAndFind(sdk, memory, access.userId);
  await ingest(memory, access.userId);
  await failAsPromised(sdk, memory, access);
  await erase(memory, access.userId);
  return `${new Set(attempts).size} operations`;
}

async function saveAndFind({ MemoryClient }: typeof Sdk, memory: Sdk.MemoryClient, userId: string) {
  expect('a client', memory instanceof MemoryClient);
  expect('health', (await memory.health()).status === 'ok');
  const request = { userId, content: 'Prefers dark mode – ünïcödé 🌒', metadata: { n: 1 } };
  const options = { idempotencyKey: `${userId}-1` };
  const { data, response } = await memory.save(request, options).withResponse();
  expect('a fresh write', response.idempotencyStatus === 'created');
  const again = await memory.save(request, options).withResponse();
  expect('a repeated write', again.response.idempotencyStatus === 'replayed');
  expect('one id', again.data.id === data.id && response.requestId !== undefined);
  expect('get', (await memory.get(data.id)).content === request.content);
  await memory.update(data.id, { content: 'Prefers light mode' });
  const { items } = await memory.search({ userId, query: 'light mode' });
  expect('search', items[0]?.id === data.id);
  await memory.delete(data.id);
  expect('delete', (await memory.list({ userId })).items.length === 0);
}

async function ingest(memory: Sdk.MemoryClient, userId: string) {
  const comments = [{ author: 'user', content: 'Where is my refund?' }];
  const { memoryId } = await memory.ingest.support({
    userId,
    source: 'helpdesk',
    externalId: '1182',
    data: { subject: 'Refund', comments },
  });
  const seen: string[] = [];
  await memory.waitUntilComplete(memoryId, { onStatus: ({ status }) => seen.push(status) });
  expect('wait', seen.at(-1) === 'complete' && (await memory.status(memoryId)).chunksTotal > 0);
  const messages = [{ role: 'user', content: 'I moved to Bern' }];
  await memory.ingest.chat({ userId, data: { messages } });
  await memory.ingest.document({ userId, data: { text: 'A handbook', title: 'Handbook' } });
  await memory.ingest.record({ type: 'event', userId, data: { name: 'signed up' } });
  const profile = { type: 'profile', userId, data: { summary: 'Sails' } } as const;
  const batch = await memory.ingest.batch({ items: [profile, profile] });
  expect('batch', batch.accepted === 2 && batch.failedCount === 0);
  const contents: string[] = [];
  for await (const one of memory.list({ userId, limit: 2 })) contents.push(one.content);
  expect('all pages', contents.length === 6);
}

async function failAsPromised(sdk: typeof Sdk, memory: Sdk.MemoryClient, access: Access) {
  const missing = await caught(memory.get('mem_none'));
  expect('NotFoundError', missing instanceof sdk.NotFoundError && missing.status === 404);
  const invalid = await caught(memory.save({ userId: '', content: 'x' }));
  expect('details', invalid instanceof sdk.InvalidRequestError && invalid.details.length === 1);
  const stranger = new sdk.MemoryClient({ ...access, apiKey: 'mk_wrong' });
  const refused = await caught(stranger.list({ userId: 'u' }));
  expect('AuthenticationError', refused instanceof sdk.AuthenticationError);
  const leave = AbortSignal.abort();
  const left = await caught(memory.list({ userId: 'u' }, { signal: leave }));
  expect('AbortError', left instanceof sdk.AbortError);
}

async function erase(memory: Sdk.MemoryClient, userId: string) {
  const { items } = await memory.export({ userId });
  const { deleted } = await memory.deleteAll({ userId });
  expect('deleteAll', deleted === items.length && deleted === 6);
  const { imported } = await memory.import({ items: items.slice(0, 1) });
  expect('import', imported === 1 && (await memory.deleteAll({ userId })).deleted === 1);
}

function caught(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error) => error,
  );
}

function expect(what: string, holds: boolean): void {
  if (!holds) throw new Error(`not as documented: ${what}`);
}
