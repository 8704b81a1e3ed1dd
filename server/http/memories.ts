import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { SaveRequest, UpdateRequest } from '../../sdk/contract/memory.ts';
import { ListQuery } from '../../sdk/contract/page.ts';
import { SearchQuery } from '../../sdk/contract/search.ts';
import { validator } from '../../sdk/contract/validate.ts';
import type { RouteServices } from '../app.ts';
import { noSuchMemory } from '../errors.ts';
import { filterOf } from '../memory/filter.ts';
import { createFinder } from '../memory/find.ts';
import { foundJson, memoryJson, pageJson, savedMemoryJson, statusJson } from '../memory/json.ts';
import { indexPassages } from '../memory/passages.ts';
import type { NewMemory } from '../storage/storage.ts';
import type { Auth } from './auth.ts';
import type { Caller } from './authenticate.ts';
import { bodyUnread } from './body.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { readIdempotency } from './idempotency.ts';
import { type ReadPage, readPage } from './page.ts';
import { createPageCache } from './page-cache.ts';
import { parse } from './parse.ts';
import { readNoQuery, readQuery, searchOf, withLimit, withMetadata } from './query.ts';
import { sendJson, sendResult } from './response.ts';

const validateSave = validator(SaveRequest);
const validateUpdate = validator(UpdateRequest);
const validateSearch = validator(SearchQuery);
const validateList = validator(ListQuery);

/** /v1/memories: saving, reading, searching, changing and deleting memories. */
export function memories(auth: Auth, services: RouteServices) {
  const { storage, now, newId, config, waitLonger, bodies } = services;
  const maxBodyBytes = Math.min(config.maxBodyBytes, limits.saveBodyBytes);
  const pages = createPageCache(() => storage.version());
  const find = createFinder(storage);

  /**
   * An unknown id is a 404 even where the body is invalid. Only an invalid request costs the
   * lookup: otherwise the write itself finds out.
   */
  async function ofKnown<T>({ projectId }: Caller, id: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const memory = await storage.getMemory(projectId, id);
      throw memory === null ? noSuchMemory() : error;
    }
  }

  async function readUpdate(request: Request, caller: Caller) {
    const body = await bodies.readJson(request, caller.projectId, maxBodyBytes);
    readNoQuery(request);
    const { content, metadata } = parse<UpdateRequest>(validateUpdate, body);
    return {
      content,
      metadata: metadata === undefined ? null : JSON.stringify(metadata),
      index: (metadata: string) => indexPassages(content, metadata),
      idempotency: await readIdempotency(request, body),
    };
  }

  async function listPage(projectId: number, query: ListQuery): Promise<string> {
    const { userId, cursor, order = 'desc', limit = limits.pageItemsDefault } = query;
    const filter = filterOf(query);
    const list = [userId, order, JSON.stringify(filter)];
    const range = { projectId, userId, filter, order };
    const after = cursor === undefined ? null : readCursor(cursor, list);
    const read: ReadPage = (after, limit) => storage.listMemories({ ...range, after, limit });
    const { items, next } = await readPage(read, { after, limit });
    return pageJson(items, next === null ? null : writeCursor(next, list));
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
          answer: (memory) => ({ status: 201, body: savedMemoryJson(memory) }),
        });
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .get('', async ({ request, caller, set }) => {
      const { projectId } = caller;
      const name = `${projectId} ${searchOf(request.url)}`;
      const page = await pages.read(name, () => listPage(projectId, readListQuery(request)));
      return sendJson(set, 200, page);
    })

    .get('/search', async ({ request, caller, set }) => {
      const query = readSearchQuery(request);
      const { userId, limit = limits.searchItemsDefault } = query;
      const { projectId } = caller;
      const filter = filterOf(query);
      const wanted = { projectId, userId, query: query.query, filter, limit };
      waitLonger(request);
      return sendJson(set, 200, foundJson(await find(wanted, request.signal)));
    })

    .get('/:id', async ({ request, caller, params, set }) => {
      const memory = await storage.getMemory(caller.projectId, params.id);
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
          answer: (memory) => ({ status: 200, body: memoryJson(memory) }),
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
          idempotency,
          answer: () => ({ status: 204, body: '' }),
        });
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .get('/:id/status', async ({ request, caller, params, set }) => {
      const status = await storage.getStatus(caller.projectId, params.id);
      if (status === null) throw noSuchMemory();
      readNoQuery(request);
      return sendJson(set, 200, statusJson(status));
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
  const passages = indexPassages(content, json);
  const origin = { source: null, externalId: null };
  return { id, userId, type: 'memory', content, metadata: json, ...origin, passages };
}
