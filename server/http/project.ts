import { Elysia } from 'elysia';
import { limits } from '../../sdk/contract/limits.ts';
import { type ApiKey, UsersQuery } from '../../sdk/contract/project.ts';
import { validator } from '../../sdk/contract/validate.ts';
import type { RouteServices } from '../app.ts';
import type { Auth } from './auth.ts';
import { readBy } from './bound-user.ts';
import { readCursor } from './cursor.ts';
import { parse } from './parse.ts';
import { readNoQuery, readQuery, withLimit } from './query.ts';
import { sendJson, sendPage } from './response.ts';

const validateUsers = validator(UsersQuery);
const list = ['users'];

export function project(auth: Auth, { storage, now }: RouteServices) {
  return new Elysia({ prefix: '/v1' })
    .use(auth.byMethod)

    .get('/users', async ({ request, caller, set }) => {
      const query = parse<UsersQuery>(validateUsers, withLimit(readQuery(request.url)));
      const { cursor, limit = limits.pageItemsDefault } = query;
      const after = readCursor(cursor, list);
      const page = await storage.listUsers({ ...readBy(caller, now()), after, limit });
      return sendPage(set, page, list);
    })

    .get('/key', ({ request, caller, set }) => {
      readNoQuery(request);
      const { project, name, lastFour, userId, readOnly } = caller;
      const expiresAt = caller.expiresAt === null ? null : new Date(caller.expiresAt).toISOString();
      const key: ApiKey = { project, name, lastFour, userId, readOnly, expiresAt };
      return sendJson(set, 200, JSON.stringify(key));
    });
}
