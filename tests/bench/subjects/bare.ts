/*
 * The HTTP ceiling: one Elysia route for a save and one for a list, with the service's own schema
 * checks and answers, and nothing else. Its argument: { page, store }. `page` is the answer to
 * every list. With a `store` every save is stored before it is answered, in a commit of its own,
 * which is what a plain server does; without, nothing is.
 */
import { Elysia } from 'elysia';
import { SaveRequest } from '../../../sdk/contract/memory.ts';
import { ListQuery } from '../../../sdk/contract/page.ts';
import { validator } from '../../../sdk/contract/validate.ts';
import { newMemoryId } from '../../../server/ids.ts';
import { savedMemoryJson } from '../../../server/memory/json.ts';
import { indexPassages } from '../../../server/memory/passages.ts';
import type { StoredMemory } from '../../../server/storage/storage.ts';
import { listenOn } from './listen.ts';
import { openSingle, type SingleStore } from './single.ts';

type Spec = { page?: string; store?: SingleStore };

const { page = '', store } = JSON.parse(process.argv[2] ?? '{}') as Spec;
const validateSave = validator(SaveRequest);
const validateList = validator(ListQuery);
const single = store === undefined ? null : openSingle(store);
const json = { 'content-type': 'application/json' };

const app = new Elysia()
  .post(
    '/v1/memories',
    ({ body, set }) => {
      const errors = validateSave(body);
      if (errors.length > 0) throw new Error(JSON.stringify(errors));
      const memory = complete(body as SaveRequest);
      single?.save(memory, indexPassages(memory.content, memory.metadata));
      set.status = 201;
      set.headers['content-type'] = json['content-type'];
      return savedMemoryJson(memory);
    },
    { parse: 'json' },
  )
  .get('/v1/memories', ({ query, set }) => {
    const errors = validateList({ ...query, limit: Number(query.limit ?? 20) });
    if (errors.length > 0) throw new Error(JSON.stringify(errors));
    set.headers['content-type'] = json['content-type'];
    return page;
  });

function complete({ userId, content, metadata = {} }: SaveRequest): StoredMemory {
  const at = Date.now();
  return {
    id: newMemoryId(),
    userId,
    content,
    metadata: JSON.stringify(metadata),
    type: 'memory',
    source: null,
    externalId: null,
    status: 'complete',
    createdAt: at,
    updatedAt: at,
  };
}

listenOn(app.fetch, () => single?.close());
