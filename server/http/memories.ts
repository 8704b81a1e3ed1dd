import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { SaveRequest, UpdateRequest } from '../../sdk/contract/memory.ts';
import { ListQuery } from '../../sdk/contract/page.ts';
import { DeleteAllQuery } from '../../sdk/contract/transfer.ts';
import { noSuchMemory } from '../errors.ts';
import { filterOf } from '../memory/filter.ts';
import { memoryJson } from '../memory/json.ts';
import { count } from '../metrics/counts.ts';
import type { WriteResult } from '../storage/types/memories.ts';
import type { Auth } from './auth.ts';
import { type Caller, readBy } from './authenticate.ts';
import { etagOf, isKnownVersion, readIfMatch, rejectCondition } from './conditions.ts';
import { readCursor } from './cursor.ts';
import { writeOf } from './idempotency.ts';
import { changesOf, newMemory } from './requests.ts';
import { sendResult } from './response.ts';
import { jsonBody, noQuery, querySchema } from './schema.ts';
import type { RouteServices } from './services.ts';

export function memories({ byMethod: auth }: Auth, services: RouteServices) {
  const { storage, embedder, now, newMemoryId, bodies, mcp, sender } = services;

  function noteChange({ projectId }: Caller, { changedUserId: userId }: WriteResult): void {
    if (userId !== undefined) embedder?.noteChange(projectId, [{ userId }]);
  }

  const maxBytes = limits.saveBodyBytes;
  return new Elysia({ prefix: '/v1/memories' })
    .use(auth)

    .post(
      '',
      async ({ request, caller, body, sent, set }) => {
        const memory = newMemory(body, newMemoryId());
        const expectedVersion = readIfMatch(request);
        const write = await writeOf(request, caller, now, sent);
        const result = await storage.saveMemory({ ...write, memory, expectedVersion });
        embedder?.noteChange(caller.projectId, [memory]);
        const { status, memoryId } = result.response;
        if (status === 201) set.headers.location = `/v1/memories/${memoryId}`;
        return sendResult(set, request, result);
      },
      jsonBody(bodies, SaveRequest, { maxBytes }),
    )

    .get(
      '',
      async ({ request, caller, query, set }) => {
        const { userId, order = 'desc', limit = limits.pageItemsDefault, cursor } = query;
        const filter = filterOf(query);
        const list = [userId, order, JSON.stringify(filter)];
        const after = readCursor(cursor, list);
        const range = mcp.rangeOf(request);
        const read = { ...readBy(caller, now()), userId, filter, order, after, limit, range };
        return sender.page(set, caller, await storage.listMemories(read), list);
      },
      { query: querySchema(ListQuery) },
    )

    .get(
      '/:id',
      async ({ request, caller, params, set }) => {
        const range = mcp.rangeOf(request);
        const memory = await storage.getMemory({ ...readBy(caller, now()), id: params.id, range });
        if (memory === null) throw noSuchMemory();
        const isKnown = isKnownVersion(request, memory.version);
        set.headers.etag = etagOf(memory.version);
        if (!isKnown) return sender.pieces(set, caller, [memoryJson(memory)]);
        set.status = 304;
        return null; // mutate-ignore result: this status has no body
      },
      { query: noQuery },
    )

    .patch(
      '/:id',
      async ({ request, caller, params, body, sent, set }) => {
        const expectedVersion = readIfMatch(request);
        const write = await writeOf(request, caller, now, sent);
        const update = { ...write, id: params.id, changes: changesOf(body), expectedVersion };
        const result = await storage.updateMemory(update);
        noteChange(caller, result);
        return sendResult(set, request, result);
      },
      jsonBody(bodies, UpdateRequest, { maxBytes }),
    )

    .delete(
      '/:id',
      async ({ request, caller, params, sent, set }) => {
        const expectedVersion = readIfMatch(request);
        const write = await writeOf(request, caller, now, sent);
        const result = await storage.deleteMemory({ ...write, id: params.id, expectedVersion });
        noteChange(caller, result);
        return sendResult(set, request, result);
      },
      { query: noQuery },
    )

    .delete(
      '',
      async ({ request, caller, query, sent, set }) => {
        rejectCondition(request, 'If-Match');
        const write = await writeOf(request, caller, now, sent);
        const result = await storage.eraseUser({ ...write, userId: query.userId });
        if (!result.replayed) count('memory_erased_users_total', {});
        return sendResult(set, request, result);
      },
      { query: querySchema(DeleteAllQuery) },
    );
}
