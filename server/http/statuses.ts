import { Elysia } from 'elysia';
import { StatusesRequest } from '../../sdk/contract/status.ts';
import { noSuchMemory } from '../errors.ts';
import { shownStatus } from '../memory/json.ts';
import type { Auth } from './auth.ts';
import { readBy } from './authenticate.ts';
import { sendJson } from './response.ts';
import { jsonBody, noQuery } from './schema.ts';
import type { RouteServices } from './services.ts';

export function statuses({ reading: auth }: Auth, { storage, now, bodies }: RouteServices) {
  return new Elysia({ prefix: '/v1/memories' })
    .use(auth)

    .get(
      '/:id/status',
      async ({ caller, params, set }) => {
        const status = await storage.getStatus({ ...readBy(caller, now()), id: params.id });
        if (status === null) throw noSuchMemory();
        return sendJson(set, 200, JSON.stringify(shownStatus(status)));
      },
      { query: noQuery },
    )

    .post(
      '/status',
      async ({ body: { memoryIds: ids }, caller, set }) => {
        const found = await storage.getStatuses({ ...readBy(caller, now()), ids });
        const known = new Set(found.map(({ memoryId }) => memoryId));
        const notFound = ids.filter((id) => !known.has(id));
        return sendJson(set, 200, JSON.stringify({ items: found.map(shownStatus), notFound }));
      },
      jsonBody(bodies, StatusesRequest),
    );
}
