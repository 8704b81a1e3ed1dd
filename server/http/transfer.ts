import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import type { Memory } from '../../sdk/contract/memory.ts';
import {
  DeleteAllQuery,
  ExportQuery,
  type Imported,
  ImportedMemory,
} from '../../sdk/contract/transfer.ts';
import { validator } from '../../sdk/contract/validate.ts';
import type { RouteServices } from '../app.ts';
import { noFilter } from '../memory/filter.ts';
import { pageJson } from '../memory/json.ts';
import { indexPassages } from '../memory/passages.ts';
import type * as stored from '../storage/storage.ts';
import type { Auth } from './auth.ts';
import { type Failure, validateItems } from './batch.ts';
import { bodyUnread } from './body.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { readIdempotency } from './idempotency.ts';
import { type ReadPage, readPage } from './page.ts';
import { parse } from './parse.ts';
import { readNoQuery, readQuery, withLimit } from './query.ts';
import { sendJson, sendResult } from './response.ts';

const validateDeleteAll = validator(DeleteAllQuery);
const validateExport = validator(ExportQuery);
const validateItem = validator(ImportedMemory);

/** Erasing a user, and exporting and importing memories unchanged. */
export function transfer(auth: Auth, { storage, worker, now, config, bodies }: RouteServices) {
  return new Elysia({ prefix: '/v1' })
    .use(auth)

    .delete(
      '/memories',
      async ({ request, caller, set }) => {
        const query = readQuery(request.url);
        const { userId } = parse<DeleteAllQuery>(validateDeleteAll, query);
        const result = await storage.deleteAllMemories({
          projectId: caller.projectId,
          at: now(),
          userId,
          idempotency: await readIdempotency(request),
          answer: (deleted) => ({ status: 200, body: JSON.stringify({ deleted }) }),
        });
        return sendResult(set, request, result);
      },
      bodyUnread,
    )

    .get('/export', async ({ request, caller, set }) => {
      const query = parse<ExportQuery>(validateExport, withLimit(readQuery(request.url)));
      const { userId, cursor, limit = limits.exportItems } = query;
      const list = ['export', userId ?? ''];
      const after = cursor === undefined ? null : readCursor(cursor, list);
      const read = reader(storage, caller.projectId, userId);
      const { items, next } = await readPage(read, { after, limit });
      const nextCursor = next === null ? null : writeCursor(next, list);
      return sendJson(set, 200, pageJson(items, nextCursor));
    })

    .post(
      '/import',
      async ({ request, caller, set }) => {
        const body = await bodies.readJson(request, caller.projectId, config.maxBodyBytes);
        readNoQuery(request);
        const { valid, indexes, failed } = await validateItems(body, validateItem, importedMemory);
        const idempotency = await readIdempotency(request, body);
        const result = await storage.importMemories({
          projectId: caller.projectId,
          at: now(),
          memories: valid,
          idempotency,
          answer: (outcomes) => ({
            status: 200,
            body: JSON.stringify(report(outcomes, indexes, failed)),
          }),
        });
        worker.wake();
        return sendResult(set, request, result);
      },
      bodyUnread,
    );
}

/** Of a project by id; of one user by creation, whatever else the project holds. */
function reader(storage: stored.Storage, projectId: number, userId?: string): ReadPage {
  if (userId === undefined) {
    return (after, limit) => storage.exportMemories({ projectId, after: after?.id ?? null, limit });
  }
  const range = { projectId, userId, filter: noFilter, order: 'asc' as const };
  return (after, limit) => storage.listMemories({ ...range, after, limit });
}

function importedMemory(item: Memory): stored.ImportedMemory {
  const metadata = JSON.stringify(item.metadata);
  return {
    ...item,
    metadata,
    createdAt: Date.parse(item.createdAt),
    updatedAt: Date.parse(item.updatedAt),
    // The queue splits what is not complete.
    passages: item.status === 'complete' ? indexPassages(item.content, metadata) : [],
  };
}

function report(outcomes: stored.ImportOutcome[], indexes: number[], refused: Failure[]): Imported {
  const taken = outcomes.flatMap((outcome, position): Failure[] => {
    if (outcome !== 'taken') return [];
    const message = 'externalId: another memory of this user has this source and externalId';
    return [{ index: indexes[position] ?? 0, error: 'invalid_request', message }];
  });
  const failed = [...refused, ...taken].sort((a, b) => a.index - b.index);
  return {
    imported: outcomes.filter((outcome) => outcome === 'imported').length,
    skipped: outcomes.filter((outcome) => outcome === 'skipped').length,
    failedCount: failed.length,
    failed,
  };
}
