import type { Static } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import type { Memory } from '../../sdk/contract/memory.ts';
import { optionalTimeMs } from '../../sdk/contract/times.ts';
import { DeleteAllQuery, ExportQuery, ImportedMemory } from '../../sdk/contract/transfer.ts';
import { validator } from '../../sdk/contract/validate.ts';
import { derivedMemoryId } from '../ids.ts';
import { count } from '../metrics/counts.ts';
import type * as stored from '../storage/storage.ts';
import type { Auth } from './auth.ts';
import type { Caller } from './authenticate.ts';
import { validateItems } from './batch.ts';
import { bodyUnread } from './body.ts';
import { readBy, withBoundUser } from './bound-user.ts';
import { readCursor } from './cursor.ts';
import { writeOf } from './idempotency.ts';
import { parse } from './parse.ts';
import { readNoQuery, readQuery, withLimit } from './query.ts';
import { sendPage, sendResult } from './response.ts';
import type { RouteServices } from './services.ts';

const validateDeleteAll = validator(DeleteAllQuery);
const validateExport = validator(ExportQuery);
const validateItem = validator(ImportedMemory);

/** Serves the routes that erase all of a user's memories, and that export and import memories. */
export function transfer(auth: Auth, { storage, tasks, embedder, now, bodies }: RouteServices) {
  /**
   * Ids are unique in the project. A key that is bound to a user must neither take a free id nor
   * learn that another user's memory has it, so only ids that the user already has are kept. The
   * other ids are derived from the user and the given id, so that a repeated import skips them.
   */
  async function withOwnIds(caller: Caller, memories: stored.ImportedMemory[]) {
    const { userId } = caller;
    if (userId === null) return memories;
    const ids = memories.map(({ id }) => id);
    const known = await storage.getStatuses({ ...readBy(caller, now()), ids });
    const own = new Set(known.map(({ memoryId }) => memoryId));
    return memories.map((memory) => {
      return own.has(memory.id) ? memory : { ...memory, id: derivedMemoryId(userId, memory.id) };
    });
  }

  return new Elysia({ prefix: '/v1' })
    .use(auth.byMethod)

    .delete(
      '/memories',
      async ({ request, caller, set }) => {
        const query = withBoundUser(readQuery(request.url), caller);
        const { userId } = parse<Static<typeof DeleteAllQuery>>(validateDeleteAll, query);
        const write = await writeOf(request, caller, now);
        const result = await storage.eraseUser({ ...write, userId });
        if (!result.replayed) count('memory_erased_users_total', {});
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .get('/export', async ({ request, caller, set }) => {
      const query = parse<ExportQuery>(
        validateExport,
        withLimit(withBoundUser(readQuery(request.url), caller)),
      );
      const { userId, cursor, limit = limits.exportItems } = query;
      const list = ['export', userId ?? ''];
      const after = readCursor(cursor, list);
      const onlyUserId = userId ?? null;
      const read = { ...readBy(caller, now()), onlyUserId, after, limit };
      return sendPage(set, await storage.exportMemories(read), list);
    })

    .post(
      '/import',
      async ({ request, caller, set }) => {
        const body = await bodies.readJson(request, caller.projectId);
        readNoQuery(request);
        const items = await validateItems(body, caller, validateItem, importedMemory);
        const write = await writeOf(request, caller, now, body);
        const { batch } = items;
        const memories = await withOwnIds(caller, items.valid);
        const result = await storage.importMemories({ ...write, memories, batch });
        tasks.wake();
        embedder?.noteChange(
          caller.projectId,
          memories.map(({ userId }) => userId),
        );
        return sendResult(set, request, result);
      },
      bodyUnread,
    );
}

function importedMemory(item: Memory): stored.ImportedMemory {
  return {
    ...item,
    metadata: JSON.stringify(item.metadata),
    version: item.version ?? 1,
    occurredAt: optionalTimeMs(item.occurredAt),
    expiresAt: optionalTimeMs(item.expiresAt),
    createdAt: Date.parse(item.createdAt),
    updatedAt: Date.parse(item.updatedAt),
  };
}
