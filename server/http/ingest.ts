import { Elysia } from 'elysia';
import type {
  Accepted,
  BatchAccepted,
  IngestRecord,
  RecordType,
} from '../../sdk/contract/ingest.ts';
import {
  type Validator,
  validateChat,
  validateDocument,
  validateRecord,
  validateSupport,
} from '../../sdk/contract/validate.ts';
import type { RouteServices } from '../app.ts';
import { renderRecord } from '../memory/render.ts';
import type { NewMemory } from '../storage/storage.ts';
import { type Outgoing, sendResult } from './answer.ts';
import type { Caller } from './authenticate.ts';
import { bodyUnread } from './body.ts';
import { checked } from './check.ts';
import { readIdempotency } from './idempotency.ts';
import { judgeItems } from './items.ts';
import { readNoQuery } from './query.ts';
import type { Secured } from './secured.ts';

type Context = { request: Request; caller: Caller; set: Outgoing };

/** /v1/ingest: one idea, the record, and five doors to it. */
export function ingest(guard: Secured, services: RouteServices) {
  const { storage, worker, now, newId, config, bodies } = services;

  async function readBody(request: Request, caller: Caller): Promise<unknown> {
    const body = await bodies.readJson(request, caller.projectId, config.maxBodyBytes);
    readNoQuery(request);
    return body;
  }

  /** Stores the records and their answer, and sends it. */
  async function accept(
    { request, caller, set }: Context,
    body: unknown,
    records: NewMemory[],
    answer: (memoryIds: string[]) => object,
  ) {
    const idempotency = await readIdempotency(request, body);
    const result = await storage.acceptRecords({
      projectId: caller.projectId,
      at: now(),
      records,
      idempotency,
      answer: (memoryIds) => ({ status: 202, body: JSON.stringify(answer(memoryIds)) }),
    });
    worker.wake();
    return { result, sent: sendResult(set, request, result) };
  }

  /** A door for one record; `type` is set where its body does not name one. */
  function door(validate: Validator, type?: RecordType) {
    return async ({ request, caller, set }: Context) => {
      const body = await readBody(request, caller);
      const fields = checked<IngestRecord>(validate, body);
      const record = type === undefined ? fields : ({ ...fields, type } as IngestRecord);
      const { source = null, externalId = null } = record;
      const { result, sent } = await accept(
        { request, caller, set },
        body,
        [renderRecord(record, newId())],
        ([memoryId = '']): Accepted => ({ memoryId, status: 'processing', source, externalId }),
      );
      const { memoryId } = JSON.parse(result.answer.body) as Accepted;
      set.headers.location = `/v1/memories/${memoryId}/status`;
      return sent;
    };
  }

  async function batch({ request, caller, set }: Context) {
    const body = await readBody(request, caller);
    const judged = await judgeItems(body, validateRecord, (item: IngestRecord) =>
      renderRecord(item, newId()),
    );
    const { good: records, indexes, failed } = judged;
    const { sent } = await accept(
      { request, caller, set },
      body,
      records,
      (memoryIds): BatchAccepted => ({
        accepted: records.length,
        failedCount: failed.length,
        items: memoryIds.map((memoryId, position) => ({
          index: indexes[position] ?? 0,
          memoryId,
          status: 'processing',
        })),
        failed,
      }),
    );
    return sent;
  }

  return new Elysia({ prefix: '/v1/ingest' })
    .use(guard)
    .post('', door(validateRecord), bodyUnread)
    .post('/support', door(validateSupport, 'ticket'), bodyUnread)
    .post('/document', door(validateDocument, 'document'), bodyUnread)
    .post('/chat', door(validateChat, 'conversation'), bodyUnread)
    .post('/batch', batch, bodyUnread);
}
