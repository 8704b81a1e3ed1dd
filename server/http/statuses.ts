import { Elysia } from 'elysia';
import { StatusesRequest } from '../../sdk/contract/status.ts';
import { validator } from '../../sdk/contract/validate.ts';
import { shownStatus } from '../memory/json.ts';
import type { Auth } from './auth.ts';
import { bodyUnread } from './body.ts';
import { readBy } from './bound-user.ts';
import { parse } from './parse.ts';
import { readNoQuery } from './query.ts';
import { sendJson } from './response.ts';
import type { RouteServices } from './services.ts';

const validateStatuses = validator(StatusesRequest);

export function statuses(auth: Auth, { storage, now, bodies }: RouteServices) {
  return new Elysia({ prefix: '/v1/memories' }).use(auth.reading).post(
    '/status',
    async ({ request, caller, set }) => {
      const body = await bodies.readJson(request, caller.projectId);
      readNoQuery(request);
      const { memoryIds: ids } = parse<StatusesRequest>(validateStatuses, body);
      const found = await storage.getStatuses({ ...readBy(caller, now()), ids });
      const known = new Set(found.map(({ memoryId }) => memoryId));
      const notFound = ids.filter((id) => !known.has(id));
      return sendJson(set, 200, JSON.stringify({ items: found.map(shownStatus), notFound }));
    },
    bodyUnread,
  );
}
