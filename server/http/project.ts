import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { type ApiKey, UsersQuery } from '../../sdk/contract/project.ts';
import { TasksQuery } from '../../sdk/contract/tasks.ts';
import type { Auth } from './auth.ts';
import { readBy } from './authenticate.ts';
import { readCursor } from './cursor.ts';
import { details } from './openapi/details.ts';
import { badRequest } from './parse.ts';
import { sendJson, sendPage } from './response.ts';
import { noQuery, querySchema } from './schema.ts';
import type { RouteServices } from './services.ts';
import { createMeasure, shownStats } from './stats.ts';
import { createUserList } from './users.ts';

export function project(auth: Auth, { storage, now, clock, waitLonger }: RouteServices) {
  const measure = createMeasure(storage, clock);
  const listUsers = createUserList(storage, measure);

  return new Elysia({ prefix: '/v1' })
    .use(auth.byMethod)

    .get(
      '/users',
      async ({ request, caller, query, set }) => {
        const { order = 'userId', cursor, limit = limits.pageItemsDefault } = query;
        if (order !== 'userId' && cursor != null) {
          const message = `must be omitted with order=${order}, which has only one page`;
          throw badRequest('cursor', message);
        }
        const list = ['users'];
        const range = { after: readCursor(cursor, list), limit };
        waitLonger(request);
        return sendPage(set, await listUsers(readBy(caller, now()), order, range), list);
      },
      { query: querySchema(UsersQuery), detail: details.users },
    )

    .get(
      '/tasks',
      async ({ caller, query, set }) => {
        const { status, cursor, limit = limits.pageItemsDefault } = query;
        const list = ['tasks', status];
        const after = readCursor(cursor, list);
        const read = { ...readBy(caller, now()), status, after, limit };
        return sendPage(set, await storage.listTasks(read), list);
      },
      { query: querySchema(TasksQuery), detail: details.tasks },
    )

    .get(
      '/stats',
      async ({ request, caller, set }) => {
        waitLonger(request);
        const measured = await measure(readBy(caller, now()));
        return sendJson(set, 200, JSON.stringify(shownStats(measured)));
      },
      { query: noQuery, detail: details.stats },
    )

    .get(
      '/key',
      ({ caller, set }) => {
        const { project, name, lastFour, userId, readOnly, expiresAt: expiresMs } = caller;
        const expiresAt = expiresMs === null ? null : new Date(expiresMs).toISOString();
        const key: ApiKey = { project, name, lastFour, userId, readOnly, expiresAt };
        return sendJson(set, 200, JSON.stringify(key));
      },
      { query: noQuery, detail: details.key },
    );
}
