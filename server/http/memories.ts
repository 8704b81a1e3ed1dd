import type { Static } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { SaveRequest, UpdateRequest } from '../../sdk/contract/memory.ts';
import { ListQuery } from '../../sdk/contract/page.ts';
import { SearchQuery } from '../../sdk/contract/search.ts';
import { optionalTimeMs } from '../../sdk/contract/times.ts';
import { validator } from '../../sdk/contract/validate.ts';
import { noSuchMemory } from '../errors.ts';
import { filterOf } from '../memory/filter.ts';
import { memoryJson, shownStatus } from '../memory/json.ts';
import { count } from '../metrics/counts.ts';
import type { MemoryChanges, NewMemory, WriteResult } from '../storage/storage.ts';
import type { Auth } from './auth.ts';
import type { Caller } from './authenticate.ts';
import { bodyUnread } from './body.ts';
import { readBy, withBoundUser } from './bound-user.ts';
import { etagOf, isKnownVersion, readIfMatch } from './conditions.ts';
import { readCursor } from './cursor.ts';
import { writeOf } from './idempotency.ts';
import { badRequest, parse } from './parse.ts';
import { readNoQuery, readQuery, withBoolean, withLimit, withMetadata } from './query.ts';
import { sendItems, sendJson, sendPage, sendResult } from './response.ts';
import { createSearch } from './search.ts';
import type { RouteServices } from './services.ts';

/** Requests in the wire format, where times are strings. */
type Saved = Static<typeof SaveRequest>;
type Updated = Static<typeof UpdateRequest>;
type Listed = Static<typeof ListQuery>;
type Searched = Static<typeof SearchQuery>;

const validateSave = validator(SaveRequest);
const validateUpdate = validator(UpdateRequest);
const validateSearch = validator(SearchQuery);
const validateList = validator(ListQuery);

export function memories({ byMethod: auth }: Auth, services: RouteServices) {
  const { storage, embedder, now, newMemoryId, waitLonger, bodies, mcp } = services;

  const search = createSearch(services);

  /** Responds with 404 to an unknown id even if the request is invalid. */
  async function ofKnown<T>(caller: Caller, id: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const memory = await storage.getMemory({ ...readBy(caller, now()), id });
      throw memory === null ? noSuchMemory() : error;
    }
  }

  function noteChange({ projectId }: Caller, { changedUserId }: WriteResult): void {
    if (changedUserId !== undefined) embedder?.noteChange(projectId, [changedUserId]);
  }

  async function readUpdate(request: Request, caller: Caller) {
    const body = await bodies.readJson(request, caller.projectId, limits.saveBodyBytes);
    readNoQuery(request);
    const changes = changesOf(body);
    const expectedVersion = readIfMatch(request);
    return { ...(await writeOf(request, caller, now, body)), changes, expectedVersion };
  }

  return new Elysia({ prefix: '/v1/memories' })
    .use(auth)

    .post(
      '',
      async ({ request, caller, set }) => {
        const body = await bodies.readJson(request, caller.projectId, limits.saveBodyBytes);
        readNoQuery(request);
        const saved = parse<Saved>(validateSave, withBoundUser(body, caller));
        const memory = newMemory(saved, newMemoryId());
        const write = await writeOf(request, caller, now, body);
        const result = await storage.saveMemory({ ...write, memory });
        embedder?.noteChange(caller.projectId, [memory.userId]);
        const { status, memoryId } = result.response;
        if (status === 201) set.headers.location = `/v1/memories/${memoryId}`;
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .get('', async ({ request, caller, set }) => {
      const query = parse<Listed>(validateList, filteredQuery(request, caller));
      const { userId, order = 'desc', limit = limits.pageItemsDefault, cursor } = query;
      const filter = filterOf(query);
      const list = [userId, order, JSON.stringify(filter)];
      const after = readCursor(cursor, list);
      const range = mcp.rangeOf(request);
      const read = { ...readBy(caller, now()), userId, filter, order, after, limit, range };
      return sendPage(set, await storage.listMemories(read), list);
    })

    .get('/search', async ({ request, caller, set }) => {
      const query = parse<Searched>(
        validateSearch,
        withBoolean(filteredQuery(request, caller), 'explain'),
      );
      const { userId, limit = limits.searchItemsDefault, mode = 'auto', explain = false } = query;
      const filter = filterOf(query);
      const sought = { userId, query: query.query, filter, limit, explain };
      const read = { ...readBy(caller, now()), ...sought, range: mcp.rangeOf(request) };
      waitLonger(request);
      const { items, meaning } = await search(mode, read, request.signal);
      count('memory_searches_total', { mode, meaning });
      return sendItems(set, items, `,"meaning":"${meaning}"`);
    })

    .get('/:id', async ({ request, caller, params, set }) => {
      const range = mcp.rangeOf(request);
      const memory = await storage.getMemory({ ...readBy(caller, now()), id: params.id, range });
      if (memory === null) throw noSuchMemory();
      readNoQuery(request);
      const isKnown = isKnownVersion(request, memory.version);
      set.headers.etag = etagOf(memory.version);
      if (!isKnown) return sendJson(set, 200, memoryJson(memory));
      set.status = 304;
      return null;
    })

    .patch(
      '/:id',
      async ({ request, caller, params, set }) => {
        const update = await ofKnown(caller, params.id, () => readUpdate(request, caller));
        const result = await storage.updateMemory({ ...update, id: params.id });
        noteChange(caller, result);
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .delete(
      '/:id',
      async ({ request, caller, params, set }) => {
        const deletion = await ofKnown(caller, params.id, async () => {
          readNoQuery(request);
          const expectedVersion = readIfMatch(request);
          return { ...(await writeOf(request, caller, now)), expectedVersion };
        });
        const result = await storage.deleteMemory({ ...deletion, id: params.id });
        noteChange(caller, result);
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .get('/:id/status', async ({ request, caller, params, set }) => {
      const status = await storage.getStatus({ ...readBy(caller, now()), id: params.id });
      if (status === null) throw noSuchMemory();
      readNoQuery(request);
      return sendJson(set, 200, JSON.stringify(shownStatus(status)));
    });
}

function filteredQuery(request: Request, caller: Caller) {
  return withMetadata(withLimit(withBoundUser(readQuery(request.url), caller)));
}

function newMemory(request: Saved, id: string): NewMemory {
  const { userId, content, metadata, source = null, externalId = null } = request;
  return {
    id,
    userId,
    type: 'memory',
    content,
    metadata: metadata === undefined ? '{}' : JSON.stringify(metadata),
    source,
    externalId,
    occurredAt: optionalTimeMs(request.occurredAt),
    expiresAt: optionalTimeMs(request.expiresAt),
  };
}

/**
 * Returns the changes in an update request. Omitted fields are undefined, and null clears a time.
 */
function changesOf(body: unknown): MemoryChanges {
  if (isEmpty(body)) {
    const fields = Object.keys(UpdateRequest.properties).join(', ');
    throw badRequest('', `at least one of these is required: ${fields}`);
  }
  const { content, metadata, occurredAt, expiresAt } = parse<Updated>(validateUpdate, body);
  return {
    ...(content !== undefined && { content }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
    ...(occurredAt !== undefined && { occurredAt: optionalTimeMs(occurredAt) }),
    ...(expiresAt !== undefined && { expiresAt: optionalTimeMs(expiresAt) }),
  };
}

function isEmpty(body: unknown): boolean {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isObject && Object.keys(body).length === 0;
}
