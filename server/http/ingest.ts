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
import type { Auth } from './auth.ts';
import type { Caller } from './authenticate.ts';
import { validateItems } from './batch.ts';
import { bodyUnread } from './body.ts';
import { readIdempotency } from './idempotency.ts';
import { parse } from './parse.ts';
import { readNoQuery } from './query.ts';
import { type ResponseHead, sendResult } from './response.ts';

type Context = { request: Request; caller: Caller; set: ResponseHead };

/** /v1/ingest: records of any type, one or many at a time. */
export function ingest(auth: Auth, services: RouteServices) {
  const { storage, worker, now, newId, config, bodies } = services;

  async function readBody(request: Request, caller: Caller): Promise<unknown> {
    const body = await bodies.readJson(request, caller.projectId, config.maxBodyBytes);
    readNoQuery(request);
    return body;
  }

  /** Stores the records with their response, and sends it. */
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

  /** The endpoint for one record; `type` is given where its body does not name one. */
  function endpoint(validate: Validator, type?: RecordType) {
    return async ({ request, caller, set }: Context) => {
      const body = await readBody(request, caller);
      const fields = parse<IngestRecord>(validate, body);
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
    const validated = await validateItems(body, validateRecord, (item: IngestRecord) =>
      renderRecord(item, newId()),
    );
    const { valid: records, indexes, failed } = validated;
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
    .use(auth)
    .post('', endpoint(validateRecord), bodyUnread)
    .post('/support', endpoint(validateSupport, 'ticket'), bodyUnread)
    .post('/document', endpoint(validateDocument, 'document'), bodyUnread)
    .post('/chat', endpoint(validateChat, 'conversation'), bodyUnread)
    .post('/batch', batch, bodyUnread);
}
