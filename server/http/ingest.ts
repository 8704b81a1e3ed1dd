import { Elysia } from 'elysia';
import type { Accepted, IngestRecord, RecordType } from '../../sdk/contract/ingest.ts';
import {
  type Validator,
  validateChat,
  validateDocument,
  validateRecord,
  validateSupport,
} from '../../sdk/contract/validate.ts';
import type { RouteServices } from '../app.ts';
import { renderRecord } from '../memory/render.ts';
import type { Batch, NewMemory } from '../storage/storage.ts';
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
  const { storage, tasks, now, newId, config, bodies } = services;

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
    batch: Batch | null,
  ) {
    const idempotency = await readIdempotency(request, body);
    const result = await storage.acceptRecords({
      projectId: caller.projectId,
      at: now(),
      records,
      batch,
      idempotency,
    });
    tasks.wake();
    return { result, sent: sendResult(set, request, result) };
  }

  /** A door for one record; `type` is set where its body does not name one. */
  function door(validate: Validator, type?: RecordType) {
    return async ({ request, caller, set }: Context) => {
      const body = await readBody(request, caller);
      const fields = checked<IngestRecord>(validate, body);
      const record = type === undefined ? fields : ({ ...fields, type } as IngestRecord);
      const records = [renderRecord(record, newId())];
      const { result, sent } = await accept({ request, caller, set }, body, records, null);
      const { memoryId } = JSON.parse(result.response.body) as Accepted;
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
    const batch = { indexes, failed };
    const { sent } = await accept({ request, caller, set }, body, records, batch);
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
