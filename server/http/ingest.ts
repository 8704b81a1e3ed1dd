import type { TSchema } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import {
  BatchRequest,
  ChatRequest,
  conversationOf,
  DocumentRequest,
  IngestRecord,
  isMessagesRequest,
  type RecordType,
  SupportRequest,
  type UserRecord,
} from '../../sdk/contract/ingest.ts';
import {
  type Validator,
  validateChat,
  validateDocument,
  validateRecord,
  validateSupport,
} from '../../sdk/contract/validate.ts';
import { renderRecord } from '../memory/render.ts';
import type { Batch, NewMemory } from '../storage/types/memories.ts';
import type { Auth } from './auth.ts';
import type { Authenticated } from './authenticate.ts';
import { validateBatchBody, validateItems } from './batch.ts';
import { rejectCondition } from './conditions.ts';
import { writeOf } from './idempotency.ts';
import { type ResponseHead, sendResult } from './response.ts';
import { jsonBody } from './schema.ts';
import type { RouteServices } from './services.ts';

type Context = Authenticated & { request: Request; set: ResponseHead };

export function ingest(auth: Auth, services: RouteServices) {
  const { storage, tasks, embedder, now, newMemoryId, bodies } = services;

  async function accept(
    { request, caller, sent, set }: Context,
    records: NewMemory[],
    batch: Batch | null,
  ) {
    rejectCondition(request, 'If-Match');
    const write = await writeOf(request, caller, now, sent);
    const result = await storage.acceptRecords({ ...write, records, batch });
    tasks.wake();
    embedder?.noteChange(caller.projectId, records);
    const { memoryId } = result.response;
    if (memoryId !== null) set.headers.location = `/v1/memories/${memoryId}/status`;
    return sendResult(set, request, result);
  }

  /** The handler and the options of a route. `type` is the record type that its path implies. */
  function acceptOne<Shape extends TSchema>(shape: Shape, validate: Validator, type?: RecordType) {
    const handle = async ({ request, caller, body, sent, set }: Context & { body: unknown }) => {
      const fields = isMessagesRequest(body) ? conversationOf(body) : body;
      // The validators of these routes accept nothing else.
      const record = { ...(fields as UserRecord), ...(type && { type }) } as UserRecord;
      const records = [renderRecord(record, newMemoryId())];
      return accept({ request, caller, sent, set }, records, null);
    };
    return [handle, jsonBody(bodies, shape, { validate })] as const;
  }

  return new Elysia({ prefix: '/v1/ingest' })
    .use(auth.byMethod)

    .post('/support', ...acceptOne(SupportRequest, validateSupport, 'ticket'))
    .post('/document', ...acceptOne(DocumentRequest, validateDocument, 'document'))
    .post('/chat', ...acceptOne(ChatRequest, validateChat, 'conversation'))
    .post('', ...acceptOne(IngestRecord, validateRecord))

    .post(
      '/batch',
      async ({ request, caller, body, sent, set }) => {
        const toMemory = (item: UserRecord) => renderRecord(item, newMemoryId());
        const items = await validateItems(body.items, caller, validateRecord, toMemory);
        return accept({ request, caller, sent, set }, items.valid, items.batch);
      },
      jsonBody(bodies, BatchRequest, { validate: validateBatchBody }),
    );
}
