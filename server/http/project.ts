import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { type ApiKey, UsersQuery } from '../../sdk/contract/project.ts';
import { TasksQuery } from '../../sdk/contract/tasks.ts';
import { validator } from '../../sdk/contract/validate.ts';
import type { Auth } from './auth.ts';
import { readBy } from './bound-user.ts';
import { readCursor } from './cursor.ts';
import { badRequest, parse } from './parse.ts';
import { readNoQuery, readQuery, withLimit } from './query.ts';
import { sendJson, sendPage } from './response.ts';
import type { RouteServices } from './services.ts';
import { createMeasure, shownStats } from './stats.ts';
import { createUserList } from './users.ts';

const validateUsers = validator(UsersQuery);
const validateTasks = validator(TasksQuery);

export function project(auth: Auth, { storage, now, clock, waitLonger }: RouteServices) {
  const measure = createMeasure(storage, clock);
  const listUsers = createUserList(storage, measure);

  return new Elysia({ prefix: '/v1' })
    .use(auth.byMethod)

    .get('/users', async ({ request, caller, set }) => {
      const query = parse<UsersQuery>(validateUsers, withLimit(readQuery(request.url)));
      const { order = 'userId', cursor, limit = limits.pageItemsDefault } = query;
      if (order !== 'userId' && cursor != null) {
        throw badRequest('cursor', `must be omitted with order=${order}, which has only one page`);
      }
      const list = ['users'];
      const range = { after: readCursor(cursor, list), limit };
      waitLonger(request);
      return sendPage(set, await listUsers(readBy(caller, now()), order, range), list);
    })

    .get('/tasks', async ({ request, caller, set }) => {
      const query = parse<TasksQuery>(validateTasks, withLimit(readQuery(request.url)));
      const { status, cursor, limit = limits.pageItemsDefault } = query;
      const list = ['tasks', status];
      const after = readCursor(cursor, list);
      const read = { ...readBy(caller, now()), status, after, limit };
      return sendPage(set, await storage.listTasks(read), list);
    })

    .get('/stats', async ({ request, caller, set }) => {
      readNoQuery(request);
      waitLonger(request);
      const measured = await measure(readBy(caller, now()));
      return sendJson(set, 200, JSON.stringify(shownStats(measured)));
    })

    .get('/key', ({ request, caller, set }) => {
      readNoQuery(request);
      const { project, name, lastFour, userId, readOnly } = caller;
      const expiresAt = caller.expiresAt === null ? null : new Date(caller.expiresAt).toISOString();
      const key: ApiKey = { project, name, lastFour, userId, readOnly, expiresAt };
      return sendJson(set, 200, JSON.stringify(key));
    });
}
