import { Elysia } from 'elysia';
import {
  conversationOf,
  isMessagesRequest,
  type RecordType,
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
import type { Batch, NewMemory } from '../storage/storage.ts';
import type { Auth } from './auth.ts';
import type { Caller } from './authenticate.ts';
import { validateItems } from './batch.ts';
import { bodyUnread } from './body.ts';
import { withBoundUser } from './bound-user.ts';
import { writeOf } from './idempotency.ts';
import { parse } from './parse.ts';
import { readNoQuery } from './query.ts';
import { type ResponseHead, sendResult } from './response.ts';
import type { RouteServices } from './services.ts';

type Context = { request: Request; caller: Caller; set: ResponseHead };

export function ingest(auth: Auth, services: RouteServices) {
  const { storage, tasks, embedder, now, newMemoryId, bodies } = services;

  async function readBody(request: Request, caller: Caller): Promise<unknown> {
    const body = await bodies.readJson(request, caller.projectId);
    readNoQuery(request);
    return body;
  }

  async function accept(
    { request, caller, set }: Context,
    body: unknown,
    records: NewMemory[],
    batch: Batch | null,
  ) {
    const write = await writeOf(request, caller, now, body);
    const result = await storage.acceptRecords({ ...write, records, batch });
    tasks.wake();
    embedder?.noteChange(
      caller.projectId,
      records.map(({ userId }) => userId),
    );
    const { memoryId } = result.response;
    if (memoryId !== null) set.headers.location = `/v1/memories/${memoryId}/status`;
    return sendResult(set, request, result);
  }

  /** `type` is the record type that the path implies. */
  function endpoint(validate: Validator, type?: RecordType) {
    return async ({ request, caller, set }: Context) => {
      const body = await readBody(request, caller);
      const parsed = parse<UserRecord>(validate, withBoundUser(body, caller));
      const fields = isMessagesRequest(parsed) ? conversationOf(parsed) : parsed;
      const record = (type === undefined ? fields : { ...fields, type }) as UserRecord;
      const records = [renderRecord(record, newMemoryId())];
      return accept({ request, caller, set }, body, records, null);
    };
  }

  async function batch({ request, caller, set }: Context) {
    const body = await readBody(request, caller);
    const items = await validateItems(body, caller, validateRecord, (item: UserRecord) =>
      renderRecord(item, newMemoryId()),
    );
    return accept({ request, caller, set }, body, items.valid, items.batch);
  }

  return new Elysia({ prefix: '/v1/ingest' })
    .use(auth.byMethod)
    .post('', endpoint(validateRecord), bodyUnread)
    .post('/support', endpoint(validateSupport, 'ticket'), bodyUnread)
    .post('/document', endpoint(validateDocument, 'document'), bodyUnread)
    .post('/chat', endpoint(validateChat, 'conversation'), bodyUnread)
    .post('/batch', batch, bodyUnread);
}
