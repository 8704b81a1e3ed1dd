import type { Static } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { SaveRequest, UpdateRequest } from '../../sdk/contract/memory.ts';
import { ListQuery } from '../../sdk/contract/page.ts';
import { SearchQuery } from '../../sdk/contract/search.ts';
import { pointInTimeMs } from '../../sdk/contract/text.ts';
import { validator } from '../../sdk/contract/validate.ts';
import type { RouteServices } from '../app.ts';
import { noSuchMemory } from '../errors.ts';
import { filterOf } from '../memory/filter.ts';
import { memoryJson, shownStatus } from '../memory/json.ts';
import type { MemoryChanges, NewMemory } from '../storage/storage.ts';
import type { Auth } from './auth.ts';
import type { Caller } from './authenticate.ts';
import { bodyUnread } from './body.ts';
import { readBy, withBoundUser, writeBy } from './bound-user.ts';
import { etagOf, isKnownVersion, readIfMatch } from './conditions.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { readIdempotency } from './idempotency.ts';
import { badRequest, parse } from './parse.ts';
import { readNoQuery, readQuery, withLimit, withMetadata } from './query.ts';
import { sendItems, sendJson, sendPage, sendResult } from './response.ts';

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
  const { storage, now, newMemoryId, config, waitLonger, bodies } = services;
  const maxBodyBytes = Math.min(config.maxBodyBytes, limits.saveBodyBytes);

  /** Responds with 404 to an unknown id even if the request is invalid. */
  async function ofKnown<T>(caller: Caller, id: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const memory = await storage.getMemory({ ...readBy(caller, now()), id });
      throw memory === null ? noSuchMemory() : error;
    }
  }

  async function readUpdate(request: Request, caller: Caller) {
    const body = await bodies.readJson(request, caller.projectId, maxBodyBytes);
    readNoQuery(request);
    const changes = changesOf(body);
    const expectedVersion = readIfMatch(request);
    const idempotency = await readIdempotency(request, caller, body);
    return { changes, expectedVersion, idempotency };
  }

  function listed({ userId, order = 'desc', limit = limits.pageItemsDefault, ...query }: Listed) {
    const filter = filterOf(query, timesOf(query));
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
        const saved = parse<Saved>(validateSave, withBoundUser(body, caller));
        const result = await storage.saveMemory({
          ...writeBy(caller, now()),
          memory: newMemory(saved, newMemoryId(saved.userId)),
          idempotency: await readIdempotency(request, caller, body),
        });
        const { status, memoryId } = result.response;
        if (status === 201) set.headers.location = `/v1/memories/${memoryId}`;
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .get('', async ({ request, caller, set }) => {
      const { list, range } = listed(readListQuery(request, caller));
      const { items, next } = await storage.listMemories({ ...range, ...readBy(caller, now()) });
      return sendPage(set, items, next === null ? null : writeCursor(next, list));
    })

    .get('/search', async ({ request, caller, set }) => {
      const query = readSearchQuery(request, caller);
      const { userId, limit = limits.searchItemsDefault } = query;
      const filter = filterOf(query, timesOf(query));
      const wanted = { ...readBy(caller, now()), userId, query: query.query, filter, limit };
      waitLonger(request);
      const { items } = await storage.searchMemories(wanted, request.signal);
      return sendItems(set, items);
    })

    .get('/:id', async ({ request, caller, params, set }) => {
      const memory = await storage.getMemory({ ...readBy(caller, now()), id: params.id });
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
        const result = await storage.updateMemory({
          ...update,
          ...writeBy(caller, now()),
          id: params.id,
        });
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .delete(
      '/:id',
      async ({ request, caller, params, set }) => {
        const condition = await ofKnown(caller, params.id, async () => {
          readNoQuery(request);
          const expectedVersion = readIfMatch(request);
          return { expectedVersion, idempotency: await readIdempotency(request, caller) };
        });
        const result = await storage.deleteMemory({
          ...condition,
          ...writeBy(caller, now()),
          id: params.id,
        });
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

function readListQuery(request: Request, caller: Caller): Listed {
  return parse<Listed>(validateList, filtersIn(request, caller));
}

function readSearchQuery(request: Request, caller: Caller): Searched {
  return parse<Searched>(validateSearch, filtersIn(request, caller));
}

function filtersIn(request: Request, caller: Caller) {
  return withMetadata(withLimit(withBoundUser(readQuery(request.url), caller)));
}

function timesOf({ from, to }: Pick<Listed, 'from' | 'to'>) {
  return { from: msOrNull(from), to: msOrNull(to) };
}

function msOrNull(time: string | null | undefined): number | null {
  return time == null ? null : pointInTimeMs(time);
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
    occurredAt: msOrNull(request.occurredAt),
    expiresAt: msOrNull(request.expiresAt),
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
    ...(occurredAt !== undefined && { occurredAt: msOrNull(occurredAt) }),
    ...(expiresAt !== undefined && { expiresAt: msOrNull(expiresAt) }),
  };
}

function isEmpty(body: unknown): boolean {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isObject && Object.keys(body).length === 0;
}
