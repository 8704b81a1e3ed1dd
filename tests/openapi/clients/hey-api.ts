import { apiKey, baseUrl, run } from './agent';
import { client } from './generated/client.gen';
import * as memory from './generated/sdk.gen';

/* The client of @hey-api/openapi-ts. */

client.setConfig({ baseUrl, auth: () => apiKey, throwOnError: true });
const strict = { throwOnError: true } as const;

await run({
  async save(body, key) {
    const headers = key === undefined ? {} : { 'Idempotency-Key': key };
    const { data, response } = await memory.saveMemory({ ...strict, body, headers });
    return { id: data.id, response };
  },
  list: async (query) => (await memory.listMemories({ ...strict, query })).data.items,
  ingestTicket: async (body) => (await memory.ingestTicket({ ...strict, body })).data,
  ingestBatch: async (body) => (await memory.ingestBatch({ ...strict, body })).data,
  statuses: async (body) => (await memory.getMemoryStatuses({ ...strict, body })).data,
  remove: async (path) => (await memory.deleteMemory({ ...strict, path })).response,
  async statusOf(path) {
    const { error, response } = await memory.getMemory({ path, throwOnError: false });
    return error?.error === 'not_found' ? response?.status : undefined;
  },
  removeAll: async (query) => (await memory.deleteMemories({ ...strict, query })).data,
});
