import { describe, expect, test } from 'bun:test';
import { writeCursor } from '../../server/http/cursor.ts';
import { ask, expectInvalid, getPage, save } from '../support/http.ts';
import { withProject } from '../support/server.ts';

const server = await withProject();
await save(server, 'u');

const list = 'GET /v1/memories?userId=u&';
const search = 'GET /v1/memories/search?userId=u&query=x&';
const both = [list, search];
const [users, exported] = ['GET /v1/users?', 'GET /v1/export?'];
const failed = 'GET /v1/tasks?status=failed&';
/** The routes that need a user. */
const ofUser = ['GET /v1/memories?', 'DELETE /v1/memories?', 'GET /v1/memories/search?query=x&'];

const tooLong = 'x'.repeat(257);
const ones = `=${'1'.repeat(400)}`;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const cursors = [
  ...['', 'x', '????', 'null', '0', '%20', 'mem_0199c2a4f1e87c3d9b5e6a7f80912b3c'],
  'x'.repeat(5_000),
  ...[null, {}, [], [1], [1, 'mem_x'], ['1', 'mem_x', 'y'], [1e300, 'x', 'y']].map(encode),
];

/** A value is what follows the name of the parameter, or a query in which the name is missing. */
type Invalid = [field: string, routes: string[], values: string[]];
const invalid: Invalid[] = [
  ['userId', ofUser, ['']],
  ['userId', [...ofUser, exported], ['=', '=a&userId=a', '=a&%75serId=a', '=a%00b', `=${tooLong}`]],
  ['', [...ofUser, exported], ['userId=%ff', '%zz=1', 'userId=%ed%a0%80', '=b']],
  ['__proto__', [...ofUser, exported].map((route) => `${route}userId=a&`), ['=b']],
  ['userId', [users, failed, 'GET /v1/stats?'], ['=a']],
  ['nope', [list, 'GET /v1/key?'], ['=1']],
  ['limit', [...both, users, failed], ['=101', '=1&limit=2']],
  ['limit', [list], ['=', '=0', '=%205', '=%2B5', '=1.5', '=1e1', '=0x10', '=٣', ones]],
  ['limit', [exported], ['=1001', '=1&limit=2']],
  ['order', [list], ['=', '=DESC', '=up', '=asc,desc']],
  ['order', [users], ['=', '=size', '=desc']],
  ['order', [exported], ['=asc']],
  ['cursor', [list], cursors.map((cursor) => `=${cursor}`)],
  ['cursor', [search, failed, exported], ['=x']],
  ['cursor', [users], [`=${writeCursor('a\0b', ['users'])}`]],
  ['type', both, ['=nope']],
  ['type', [exported], ['=memory']],
  ['status', both, ['=done']],
  ['status', ['GET /v1/tasks?'], ['', '=complete']],
  ['source', both, ['=', `=${tooLong}`, '=a%00b']],
  ['externalId', both, ['=', `=${tooLong}`]],
  ['from', both, ['=', '=now', '=2026-02-30']],
  ['to', both, ['=', '=now', '=2026-02-30']],
  ['metadata', both, ['=x']],
  ['metadata[]', both, ['=x']],
  ['metadata.k', both, ['=x']],
  ['metadata[k', both, ['=x']],
  ['metadata[a][b]', both, ['=v']],
  ['metadata[][b]', both, ['=v']],
  ['metadata[a][]', both, ['=v']],
  ['metadata[a][b][c]', both, ['=v']],
  ['metadata[k]', [exported], ['=v']],
  ['query', ['GET /v1/memories/search?userId=u&'], ['', '=', `=${'x'.repeat(1_001)}`]],
  ['mode', [search], ['=meaning', '=both']],
  ['explain', [search], ['=', '=TRUE', '=1', '=yes']],
  // An erasure has no filters.
  ...['type', 'source', 'limit', 'cursor', 'order', 'metadata[k]'].map(
    (name): Invalid => [name, ['DELETE /v1/memories?userId=u&'], ['=1']],
  ),
];

describe.each(invalid)('the parameter %p', (field, routes, values) => {
  test.each(routes)('%s', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    for (const value of values) {
      const query = value.startsWith('=') ? field + value : value;
      expectInvalid(await ask(server, method, path + query), field);
    }
  });
});

test('no rejected erasure has deleted anything', async () => {
  expect((await getPage(server, 'u')).items).toHaveLength(1);
});

test('every cursor that was not issued gets the same message', async () => {
  for (const cursor of ['x', cursors.at(-1)]) {
    const { text } = await ask(server, 'GET', `/v1/memories?userId=u&cursor=${cursor}`);
    const message = 'was not issued by this service; start again without a cursor';
    const details = [{ field: 'cursor', message }];
    expect(JSON.parse(text)).toMatchObject({ message: `cursor: ${message}`, details });
  }
});
