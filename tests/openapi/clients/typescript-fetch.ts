import { apiKey as accessToken, baseUrl as basePath, run } from './agent';
import { Configuration, IngestApi, MemoriesApi, ResponseError } from './generated';

/* The TypeScript client of openapi-generator. */

const configuration = new Configuration({ basePath, accessToken });
const memories = new MemoriesApi(configuration);
const ingest = new IngestApi(configuration);

const dateOf = (text?: string) => (text === undefined ? undefined : new Date(text));

await run({
  async save({ occurredAt, ...body }, idempotencyKey) {
    const saveRequest = { ...body, occurredAt: dateOf(occurredAt) };
    const reply = await memories.saveMemoryRaw({ saveRequest, idempotencyKey });
    return { id: (await reply.value()).id, response: reply.raw };
  },
  async list({ from, to, ...query }) {
    const page = await memories.listMemories({ ...query, from: dateOf(from), to: dateOf(to) });
    return page.items;
  },
  ingestTicket: (supportRequest) => ingest.ingestTicket({ supportRequest }),
  ingestBatch: (batchRequest) => ingest.ingestBatch({ batchRequest }),
  statuses: (statusesRequest) => memories.getMemoryStatuses({ statusesRequest }),
  remove: async (path) => (await memories.deleteMemoryRaw(path)).raw,
  async statusOf(path) {
    const missing = await memories.getMemory(path).catch((error: unknown) => error);
    return missing instanceof ResponseError ? missing.response.status : undefined;
  },
  removeAll: (query) => memories.deleteMemories(query),
});
