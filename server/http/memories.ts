import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { SaveRequest, UpdateRequest } from '../../sdk/contract/memory.ts';
import { ListQuery } from '../../sdk/contract/page.ts';
import { validator } from '../../sdk/contract/validate.ts';
import type { Services } from '../app.ts';
import { noSuchMemory } from '../errors.ts';
import { noFilter } from '../memory/filter.ts';
import { memoryJson, pageJson, savedMemoryJson, statusJson } from '../memory/json.ts';
import { splitPassages } from '../memory/passages.ts';
import type { NewMemory } from '../storage/storage.ts';
import { sendJson, sendResult } from './answer.ts';
import { bodyUnread, readJson } from './body.ts';
import { checked } from './check.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { readIdempotency } from './idempotency.ts';
import { readNoQuery, readQuery, wholeNumber } from './query.ts';
import type { Secured } from './secured.ts';

const validateSave = validator(SaveRequest);
const validateUpdate = validator(UpdateRequest);
const validateList = validator(ListQuery);

/** /v1/memories: what is saved, and what became of it. */
export function memories(guard: Secured, { storage, now, newId, config }: Services) {
  return new Elysia({ prefix: '/v1/memories' })
    .use(guard)

    .post(
      '',
      async (context) => {
        const { request, caller } = context;
        readNoQuery(request);
        const body = await readJson(request, config.maxBodyBytes);
        const result = await storage.saveMemory({
          projectId: caller.projectId,
          at: now(),
          memory: newMemory(checked<SaveRequest>(validateSave, body), newId()),
          idempotency: readIdempotency(request, body),
          answer: (memory) => ({ status: 201, body: savedMemoryJson(memory) }),
        });
        return sendResult(context, result);
      },
      bodyUnread,
    )

    .get('', async (context) => {
      const query = readListQuery(context.request);
      const { userId, cursor, order = 'desc', limit = limits.pageItemsDefault } = query;
      const list = [userId, order];
      const found = await storage.listMemories({
        projectId: context.caller.projectId,
        userId,
        filter: noFilter,
        order,
        after: cursor === undefined ? null : readCursor(cursor, list),
        // One more than asked for tells whether this is the end.
        limit: limit + 1,
      });
      const items = found.slice(0, limit);
      const last = found.length > limit ? items.at(-1) : undefined;
      const nextCursor = last === undefined ? null : writeCursor(last, list);
      return sendJson(context, 200, pageJson(items, nextCursor));
    })

    .get('/:id', async (context) => {
      const { request, caller, params } = context;
      readNoQuery(request);
      const memory = await storage.getMemory(caller.projectId, params.id);
      if (memory === null) throw noSuchMemory();
      return sendJson(context, 200, memoryJson(memory));
    })

    .patch(
      '/:id',
      async (context) => {
        const { request, caller, params } = context;
        readNoQuery(request);
        const body = await readJson(request, config.maxBodyBytes);
        const { content, metadata } = checked<UpdateRequest>(validateUpdate, body);
        const result = await storage.updateMemory({
          projectId: caller.projectId,
          at: now(),
          id: params.id,
          content,
          metadata: metadata === undefined ? null : JSON.stringify(metadata),
          passages: splitPassages(content),
          idempotency: readIdempotency(request, body),
          answer: (memory) => ({ status: 200, body: memoryJson(memory) }),
        });
        return sendResult(context, result);
      },
      bodyUnread,
    )

    .delete(
      '/:id',
      async (context) => {
        const { request, caller, params } = context;
        readNoQuery(request);
        const result = await storage.deleteMemory({
          projectId: caller.projectId,
          at: now(),
          id: params.id,
          idempotency: readIdempotency(request),
          answer: () => ({ status: 204, body: '' }),
        });
        return sendResult(context, result);
      },
      bodyUnread,
    )

    .get('/:id/status', async (context) => {
      const { request, caller, params } = context;
      readNoQuery(request);
      const status = await storage.getStatus(caller.projectId, params.id);
      if (status === null) throw noSuchMemory();
      return sendJson(context, 200, statusJson(status));
    });
}

function readListQuery(request: Request): ListQuery {
  const { limit, ...query } = readQuery(request.url);
  const value = limit === undefined ? query : { ...query, limit: wholeNumber(limit) };
  return checked<ListQuery>(validateList, value);
}

function newMemory({ userId, content, metadata = {} }: SaveRequest, id: string): NewMemory {
  return {
    id,
    userId,
    type: 'memory',
    content,
    metadata: JSON.stringify(metadata),
    source: null,
    externalId: null,
    passages: splitPassages(content),
  };
}
