/*
 * A bare Elysia server with a save route that validates against the service's schema. The spec is
 * { store, canned }. Without `store`, the server stores nothing, to measure the HTTP ceiling. With
 * `store`, each save is a separate commit. `canned` contains the response bodies of all other
 * routes, by method and path.
 */
import { Elysia } from 'elysia';
import { SaveRequest } from '../../../sdk/contract/memory.ts';
import { validator } from '../../../sdk/contract/validate.ts';
import { openStore, type StoreOptions } from '../internals/store.ts';
import { listenOn } from './listen.ts';
import { readSpec } from './spec.ts';

type Spec = { store?: StoreOptions; canned?: Record<string, string> };

const { store: options, canned = {} } = readSpec<Spec>();
const validateSave = validator(SaveRequest);
const store = options === undefined ? null : openStore(options);
const jsonType = 'application/json';

const app = new Elysia().post(
  '/v1/memories',
  ({ body, set }) => {
    const errors = validateSave(body);
    if (errors.length > 0) throw new Error(JSON.stringify(errors));
    set.status = 201;
    set.headers['content-type'] = jsonType;
    return save(body as UserRequest);
  },
  { parse: 'json' },
);

for (const [name, text] of Object.entries(canned)) {
  const [method = '', path = ''] = name.split(' ');
  app.route(method, path, ({ set }) => {
    set.headers['content-type'] = jsonType;
    return text;
  });
}

type UserRequest = SaveRequest & { userId: string };

function save({ userId, content, metadata = {} }: UserRequest): string {
  const createdAt = Date.now();
  const id = `mem_${crypto.randomUUID()}`;
  const unset = { source: null, externalId: null, occurredAt: null, expiresAt: null };
  const row = { id, userId, content, metadata: JSON.stringify(metadata), type: 'memory' as const };
  store?.save({ ...row, ...unset }, createdAt);
  const time = new Date(createdAt).toISOString();
  return JSON.stringify({
    memoryId: id,
    id,
    userId,
    content,
    metadata,
    type: 'memory',
    source: null,
    externalId: null,
    status: 'complete',
    version: 1,
    occurredAt: null,
    expiresAt: null,
    createdAt: time,
    updatedAt: time,
  });
}

listenOn(app.fetch, () => store?.close());
