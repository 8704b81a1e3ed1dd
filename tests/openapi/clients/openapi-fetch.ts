import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import { apiKey, baseUrl, run } from './agent';
import type { paths } from './schema';

/* The client of openapi-typescript and openapi-fetch. */

const headers = { authorization: `Bearer ${apiKey}` };
const client = createClient<paths>({ baseUrl, headers });

function dataOf<T>({ data, error }: { data?: T; error?: unknown }): T {
  assert(data !== undefined, JSON.stringify(error));
  return data;
}

await run({
  async save(body, key) {
    const params = key === undefined ? {} : { header: { 'Idempotency-Key': key } };
    const reply = await client.POST('/v1/memories', { params, body });
    return { id: dataOf(reply).id, response: reply.response };
  },
  list: async (query) => dataOf(await client.GET('/v1/memories', { params: { query } })).items,
  ingestTicket: async (body) => dataOf(await client.POST('/v1/ingest/support', { body })),
  ingestBatch: async (body) => dataOf(await client.POST('/v1/ingest/batch', { body })),
  statuses: async (body) => dataOf(await client.POST('/v1/memories/status', { body })),
  async remove(path) {
    return (await client.DELETE('/v1/memories/{id}', { params: { path } })).response;
  },
  async statusOf(path) {
    const { error, response } = await client.GET('/v1/memories/{id}', { params: { path } });
    return error?.error === 'not_found' ? response.status : undefined;
  },
  removeAll: async (query) => dataOf(await client.DELETE('/v1/memories', { params: { query } })),
});
