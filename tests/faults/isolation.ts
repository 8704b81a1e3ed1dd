import { operations } from '../../sdk/contract/operations.ts';
import { openAdmin } from '../../server/admin.ts';
import { type Call, drained, find, type Reply, send } from './api.ts';
import { createViolations, type Finding, type Harness, type RunOptions } from './harness.ts';
import { createTarget, type Target } from './target.ts';

/** A marker in all data of one project. No response to the other project may contain it. */
const canary = 'canary7Q';
const userId = `user-${canary}`;
const absent = 'mem_01a00000000000000000000000000000';

export const isolation: Harness = {
  id: 'P10',
  promise: 'No response, status code or log reveals data of one project to another project',
  proof:
    'one project requests the ids, users and cursors of another on every route with an id, in ' +
    'lists, searches, exports and deletions of users; each response must equal the response for ' +
    'an id or user that does not exist, except for the request id; neither responses nor logs ' +
    'may contain the canary strings of the other project',
  control: {
    without: 'the check of the project in requests with an id',
    variants: ['no-project-filter'],
  },
  run,
};

async function run({ variants }: RunOptions): Promise<Finding> {
  const violations = createViolations();
  const target = createTarget({ variants, env: { LOG_LEVEL: 'debug' } });
  try {
    await target.start();
    const admin = await openAdmin(`sqlite:${target.path}`);
    const { key: other } = await admin.createKey({ name: 'other', project: 'other' });
    await admin.close();
    const ids = await plant(target);
    await drained(target, 10_000);
    const before = await snapshot(target, ids);
    let pairs = 0;
    for (const attempt of attempts(ids, await cursorOf(target))) {
      pairs += 1;
      await compare(target, other, attempt, violations);
    }
    if ((await snapshot(target, ids)) !== before)
      violations.add('data of the other project changed');
    if (target.log().includes(canary)) violations.add('the log contains a canary');
    return {
      figures: { requestPairs: pairs, leaks: violations.count() },
      violations: violations.list(),
    };
  } finally {
    await target.remove();
  }
}

async function plant(target: Target): Promise<string[]> {
  const record = { userId, source: canary, externalId: canary, data: { text: `${canary} text` } };
  const calls: Call[] = [
    { method: 'POST', path: '/v1/memories', body: { userId, content: canary } },
    { method: 'POST', path: '/v1/memories', body: { userId, content: `${canary} 2` } },
    { method: 'POST', path: '/v1/ingest/document', body: record },
  ];
  const ids: string[] = [];
  for (const call of calls) {
    const reply = await send(target, { ...call, idempotencyKey: `${canary}-${ids.length}` });
    ids.push((JSON.parse(reply?.text ?? '{}') as { memoryId: string }).memoryId);
  }
  return ids;
}

async function snapshot(target: Target, ids: string[]): Promise<string> {
  return JSON.stringify(await Promise.all(ids.map((id) => find(target, id))));
}

async function cursorOf(target: Target): Promise<string> {
  const reply = await send(target, {
    method: 'GET',
    path: `/v1/memories?userId=${userId}&limit=1`,
  });
  return (JSON.parse(reply?.text ?? '{}') as { nextCursor: string }).nextCursor;
}

/** A request for data of the other project, and the same request for data that does not exist. */
type Attempt = { about: string; theirs: Call; nobodys: Call };

function attempts(ids: string[], cursor: string): Attempt[] {
  const all: Attempt[] = [];
  const named = Object.entries(operations).filter(([, { path }]) => path.includes(':id'));
  for (const [name, { method, path }] of named) {
    for (const id of ids) {
      const body = method === 'PATCH' ? { body: { content: 'mine now' } } : {};
      const call = (of: string): Call => ({ method, path: path.replace(':id', of), ...body });
      all.push({ about: name, theirs: call(id), nobodys: call(absent) });
    }
  }
  const list = (query: string) => `/v1/memories?userId=${query}`;
  const search = (user: string) => `/v1/memories/search?userId=${user}&query=${canary}`;
  const users: [string, Call['method'], (user: string) => string][] = [
    ['list', 'GET', (user) => list(user)],
    ['list by source', 'GET', (user) => list(`${user}&source=${canary}`)],
    ['list by externalId', 'GET', (user) => list(`${user}&externalId=${canary}`)],
    ['search', 'GET', search],
    ['delete all', 'DELETE', list],
    ['export', 'GET', () => '/v1/export'],
  ];
  for (const [about, method, path] of users) {
    all.push({
      about,
      theirs: { method, path: path(userId) },
      nobodys: { method, path: path('nobody') },
    });
  }
  const after = `${list(userId)}&limit=1&cursor=${encodeURIComponent(cursor)}`;
  all.push({
    about: 'cursor',
    theirs: { method: 'GET', path: after },
    nobodys: { method: 'GET', path: list('nobody') },
  });
  return all;
}

async function compare(
  target: Target,
  apiKey: string,
  { about, theirs, nobodys }: Attempt,
  violations: ReturnType<typeof createViolations>,
): Promise<void> {
  const [found, expected] = [
    await send(target, { ...theirs, apiKey }),
    await send(target, { ...nobodys, apiKey }),
  ];
  // Even if the request contains the canary, the response must not repeat it.
  if (found?.text.includes(canary))
    violations.add(`${about}: the response contains a canary: ${found.text}`);
  if (shape(found) !== shape(expected)) {
    violations.add(`${about}: ${theirs.method} ${shape(found)}, expected ${shape(expected)}`);
  }
}

function shape(reply: Reply | null): string {
  if (reply === null) return 'no response';
  const names = [...reply.headers.keys()]
    .filter((name) => name !== 'date')
    .sort()
    .join(',');
  return `${reply.status} ${reply.text.replace(/req_\w+/g, 'req')} ${names}`;
}
