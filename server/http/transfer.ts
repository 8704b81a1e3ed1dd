import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { ExportQuery, ImportedMemory, ImportRequest } from '../../sdk/contract/transfer.ts';
import { validator } from '../../sdk/contract/validate.ts';
import { derivedMemoryId } from '../ids.ts';
import type { StoredMemory } from '../storage/types/memories.ts';
import type { Auth } from './auth.ts';
import { type Caller, readBy } from './authenticate.ts';
import { validateBatchBody, validateItems } from './batch.ts';
import { rejectCondition } from './conditions.ts';
import { readCursor } from './cursor.ts';
import { writeOf } from './idempotency.ts';
import { importedMemory } from './requests.ts';
import { sendResult } from './response.ts';
import { jsonBody, querySchema } from './schema.ts';
import type { RouteServices } from './services.ts';

const validateItem = validator(ImportedMemory);

export function transfer(auth: Auth, services: RouteServices) {
  const { storage, tasks, embedder, now, bodies, sender } = services;

  /**
   * Ids are unique in the project. A key that is bound to a user must neither take a free id nor
   * learn that another user's memory has it, so only ids that the user already has are kept. The
   * other ids are derived from the user and the given id, so that a repeated import skips them.
   */
  async function withOwnIds(caller: Caller, memories: StoredMemory[]) {
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

    .get(
      '/export',
      async ({ caller, query, set }) => {
        const { userId, cursor, limit = limits.exportItems } = query;
        const list = ['export', userId ?? ''];
        const after = readCursor(cursor, list);
        const onlyUserId = userId ?? null;
        const read = { ...readBy(caller, now()), onlyUserId, after, limit };
        return sender.page(set, caller, await storage.exportMemories(read), list);
      },
      { query: querySchema(ExportQuery) },
    )

    .post(
      '/import',
      async ({ request, caller, body, sent, set }) => {
        rejectCondition(request, 'If-Match');
        const items = await validateItems(body.items, caller, validateItem, importedMemory);
        const write = await writeOf(request, caller, now, sent);
        const { batch } = items;
        const memories = await withOwnIds(caller, items.valid);
        const result = await storage.importMemories({ ...write, memories, batch });
        tasks.wake();
        embedder?.noteChange(caller.projectId, memories);
        return sendResult(set, request, result);
      },
      jsonBody(bodies, ImportRequest, { validate: validateBatchBody }),
    );
}
