import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { SaveRequest, UpdateRequest } from '../../sdk/contract/memory.ts';
import { ListQuery } from '../../sdk/contract/page.ts';
import { SearchQuery } from '../../sdk/contract/search.ts';
import { validator } from '../../sdk/contract/validate.ts';
import type { RouteServices } from '../app.ts';
import { noSuchMemory } from '../errors.ts';
import { filterOf } from '../memory/filter.ts';
import { memoryJson, shownStatus } from '../memory/json.ts';
import type { NewMemory } from '../storage/storage.ts';
import type { Auth } from './auth.ts';
import type { Caller } from './authenticate.ts';
import { bodyUnread } from './body.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { readIdempotency } from './idempotency.ts';
import { parse } from './parse.ts';
import { readNoQuery, readQuery, withLimit, withMetadata } from './query.ts';
import { sendItems, sendJson, sendPage, sendResult } from './response.ts';

const validateSave = validator(SaveRequest);
const validateUpdate = validator(UpdateRequest);
const validateSearch = validator(SearchQuery);
const validateList = validator(ListQuery);

/** /v1/memories: saving, reading, searching, changing and deleting memories. */
export function memories(auth: Auth, services: RouteServices) {
  const { storage, now, newId, config, waitLonger, bodies } = services;
  const maxBodyBytes = Math.min(config.maxBodyBytes, limits.saveBodyBytes);

  /**
   * An unknown id is a 404 even where the body is invalid. Only an invalid request costs the
   * lookup: otherwise the write itself finds out.
   */
  async function ofKnown<T>({ projectId }: Caller, id: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const memory = await storage.getMemory({ projectId, id, now: now() });
      throw memory === null ? noSuchMemory() : error;
    }
  }

  async function readUpdate(request: Request, caller: Caller) {
    const body = await bodies.readJson(request, caller.projectId, maxBodyBytes);
    readNoQuery(request);
    const { content, metadata } = parse<UpdateRequest>(validateUpdate, body);
    const changes = {
      content,
      ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
    };
    const idempotency = await readIdempotency(request, body);
    return { changes, expectedVersion: null, idempotency };
  }

  function listed({
    userId,
    order = 'desc',
    limit = limits.pageItemsDefault,
    ...query
  }: ListQuery) {
    const filter = filterOf(query);
    const list = [userId, order, JSON.stringify(filter)];
    const after = query.cursor === undefined ? null : readCursor(query.cursor, list);
    return { list, range: { userId, order, filter, after, limit } };
  }

  return new Elysia({ prefix: '/v1/memories' })
    .use(auth)

    .post(
      '',
      async ({ request, caller, set }) => {
        const body = await bodies.readJson(request, caller.projectId, maxBodyBytes);
        readNoQuery(request);
        const result = await storage.saveMemory({
          projectId: caller.projectId,
          at: now(),
          memory: newMemory(parse<SaveRequest>(validateSave, body), newId()),
          idempotency: await readIdempotency(request, body),
        });
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .get('', async ({ request, caller, set }) => {
      const { projectId } = caller;
      const { list, range } = listed(readListQuery(request));
      const { items, next } = await storage.listMemories({ ...range, projectId, now: now() });
      return sendPage(set, items, next === null ? null : writeCursor(next, list));
    })

    .get('/search', async ({ request, caller, set }) => {
      const query = readSearchQuery(request);
      const { userId, limit = limits.searchItemsDefault } = query;
      const { projectId } = caller;
      const filter = filterOf(query);
      const wanted = { projectId, userId, query: query.query, filter, limit, now: now() };
      waitLonger(request);
      const { items } = await storage.searchMemories(wanted, request.signal);
      return sendItems(set, items);
    })

    .get('/:id', async ({ request, caller, params, set }) => {
      const { projectId } = caller;
      const memory = await storage.getMemory({ projectId, id: params.id, now: now() });
      if (memory === null) throw noSuchMemory();
      readNoQuery(request);
      return sendJson(set, 200, memoryJson(memory));
    })

    .patch(
      '/:id',
      async ({ request, caller, params, set }) => {
        const update = await ofKnown(caller, params.id, () => readUpdate(request, caller));
        const result = await storage.updateMemory({
          ...update,
          projectId: caller.projectId,
          at: now(),
          id: params.id,
        });
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .delete(
      '/:id',
      async ({ request, caller, params, set }) => {
        const idempotency = await ofKnown(caller, params.id, async () => {
          readNoQuery(request);
          return await readIdempotency(request);
        });
        const result = await storage.deleteMemory({
          projectId: caller.projectId,
          at: now(),
          id: params.id,
          expectedVersion: null,
          idempotency,
        });
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .get('/:id/status', async ({ request, caller, params, set }) => {
      const { projectId } = caller;
      const status = await storage.getStatus({ projectId, id: params.id, now: now() });
      if (status === null) throw noSuchMemory();
      readNoQuery(request);
      return sendJson(set, 200, JSON.stringify(shownStatus(status)));
    });
}

function readListQuery(request: Request): ListQuery {
  return parse<ListQuery>(validateList, withMetadata(withLimit(readQuery(request.url))));
}

function readSearchQuery(request: Request): SearchQuery {
  return parse<SearchQuery>(validateSearch, withMetadata(withLimit(readQuery(request.url))));
}

function newMemory({ userId, content, metadata }: SaveRequest, id: string): NewMemory {
  const json = metadata === undefined ? '{}' : JSON.stringify(metadata);
  const origin = { source: null, externalId: null };
  const times = { occurredAt: null, expiresAt: null };
  return { id, userId, type: 'memory', content, metadata: json, ...origin, ...times };
}
