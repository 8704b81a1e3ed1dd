import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { type ApiKey, UsersQuery } from '../../sdk/contract/project.ts';
import { TasksQuery } from '../../sdk/contract/tasks.ts';
import { badRequest } from '../errors.ts';
import { timeOrNull, usersJson } from '../memory/json.ts';
import type { Auth } from './auth.ts';
import { readBy } from './authenticate.ts';
import { readCursor } from './cursor.ts';
import { sendJson } from './response.ts';
import { noQuery, querySchema } from './schema.ts';
import type { RouteServices } from './services.ts';
import { createMeasure, shownStats } from './stats.ts';

export function project(auth: Auth, { storage, now, clock, waitLonger, sender }: RouteServices) {
  const measure = createMeasure(storage, clock);

  return new Elysia({ prefix: '/v1' })
    .use(auth.byMethod)

    .get(
      '/users',
      async ({ caller, query, set }) => {
        const { order = 'userId', cursor, limit = limits.pageItemsDefault } = query;
        if (order !== 'userId' && cursor != null) {
          const message = `must be omitted with order=${order}, which has only one page`;
          throw badRequest('cursor', message);
        }
        const list = ['users'];
        const after = readCursor(cursor, list);
        const read = { ...readBy(caller, now()), order, after, limit };
        const { users, next } = await storage.listUsers(read);
        return sender.page(set, caller, { items: usersJson(users), next }, list);
      },
      { query: querySchema(UsersQuery) },
    )

    .get(
      '/tasks',
      async ({ caller, query, set }) => {
        const { status, cursor, limit = limits.pageItemsDefault } = query;
        const list = ['tasks', status];
        const after = readCursor(cursor, list);
        const read = { ...readBy(caller, now()), status, after, limit };
        return sender.page(set, caller, await storage.listTasks(read), list);
      },
      { query: querySchema(TasksQuery) },
    )

    .get(
      '/stats',
      async ({ request, caller, set }) => {
        waitLonger(request);
        const measured = await measure(readBy(caller, now()));
        return sendJson(set, 200, JSON.stringify(shownStats(measured)));
      },
      { query: noQuery },
    )

    .get(
      '/key',
      ({ caller, set }) => {
        const { project, name, lastFour, userId, readOnly } = caller;
        const expiresAt = timeOrNull(caller.expiresAt);
        const key: ApiKey = { project, name, lastFour, userId, readOnly, expiresAt };
        return sendJson(set, 200, JSON.stringify(key));
      },
      { query: noQuery },
    );
}
