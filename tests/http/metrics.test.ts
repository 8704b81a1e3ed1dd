import { describe, expect, test } from 'bun:test';
import { version } from '../../package.json';
import { memory } from '../cli/command.ts';
import { backend } from '../support/backend.ts';
import { startEndpoint } from '../support/embeddings-endpoint.ts';
import { temporaryFolder } from '../support/folder.ts';
import { ask, beginSave, ingest, newUser, save, whenComplete } from '../support/http.ts';
import { searchByMeaning } from '../support/meaning.ts';
import { type Metrics, parseMetrics, readMetrics } from '../support/metrics.ts';
import { leaseRecord } from '../support/queue.ts';
import { rowsOf } from '../support/rows.ts';
import { send, startTestServer, withServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const server = await withServer();

const search = (more = '') => ask(server, 'GET', `/v1/memories/search?userId=u&query=tea${more}`);
const get = (path: string, headers = {}) => ask(server, 'GET', path, { headers });
const wrong = { authorization: 'Bearer wrong' };
const ofGets = 'route="/v1/memories/:id",method="GET"';
const ofSaves = 'route="/v1/memories",method="POST"';

/** Time series, and an act that increments each of them. */
const counters: [string, () => Promise<unknown>][] = [
  [`memory_http_requests_total{${ofSaves},status="2xx"}`, () => save(server, 'u')],
  [`memory_http_request_duration_seconds_count{${ofSaves}}`, () => save(server, 'u')],
  [`memory_http_request_duration_seconds_sum{${ofSaves}}`, () => save(server, 'u')],
  [`memory_http_requests_total{${ofGets},status="4xx"}`, () => get('/v1/memories/mem_none')],
  ['memory_http_errors_total{error="unauthorized"}', () => get('/v1/key', wrong)],
  ['memory_http_errors_total{error="invalid_request"}', () => ask(server, 'GET', '/v1/memories')],
  ['memory_searches_total{mode="auto",meaning="off"}', search],
  ['memory_searches_total{mode="words",meaning="off"}', () => search('&mode=words')],
  ['memory_search_index_lookups_total{result="miss"}', searchOfNewUser],
  ['memory_search_index_lookups_total{result="hit"}', search],
  ['memory_commit_writes_count', () => save(server, 'u')],
  ['memory_commit_writes_sum', () => save(server, 'u')],
  ['memory_commit_duration_seconds_count', () => save(server, 'u')],
  ['memory_commit_duration_seconds_sum', () => save(server, 'u')],
  ['memory_task_attempts_total{kind="index",outcome="complete"}', ingestOne],
  ['memory_erased_users_total', erase],
  ['memory_event_loop_delay_seconds_count', async () => {}],
  ['process_cpu_seconds_total', search],
];
if (backend === 'sqlite') counters.push(['memory_database_rebuilds_total', erase]);

function searchOfNewUser() {
  return ask(server, 'GET', `/v1/memories/search?userId=${newUser()}&query=tea`);
}

async function ingestOne(): Promise<void> {
  const body = { userId: newUser(), data: { text: 'text' } };
  const { memoryId } = await ingest(server, '/v1/ingest/document', body);
  await whenComplete(server, memoryId);
}

async function erase(): Promise<void> {
  const userId = newUser();
  await save(server, userId);
  await ask(server, 'DELETE', `/v1/memories?userId=${userId}`);
}

describe('a counter counts', () => {
  test.each(counters)('%s', async (series, act) => {
    const before = (await readMetrics(server)).get(series);
    await act();
    await until(async () => (await readMetrics(server)).get(series) > before, { what: series });
  });

  test('requests over the rate limit, and only these as such', async () => {
    await using own = await startTestServer({ MEMORY_RATE_LIMIT: '1/3600' });
    const errors = async () => {
      const { get } = await readMetrics(own);
      return ['rate_limited', 'unauthorized'].map((error) =>
        get(`memory_http_errors_total{error="${error}"}`),
      );
    };
    const [limited = 0, unauthorized = 0] = await errors();
    for (let sent = 0; sent < 3; sent += 1) await ask(own, 'GET', '/v1/key');
    expect(await errors()).toEqual([limited + 2, unauthorized]);
  });

  test('no erasure that a replay only reports', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const path = `/v1/memories?userId=${newUser()}`;
    const erased = async () => (await readMetrics(server)).get('memory_erased_users_total');
    const before = await erased();
    for (let sent = 0; sent < 2; sent += 1) await ask(server, 'DELETE', path, { headers });
    expect(await erased()).toBe(before + 1);
  });
});

test('with a model, searches by meaning and embedded memories are counted', async () => {
  await using endpoint = startEndpoint();
  const model = { MEMORY_EMBEDDINGS_MODEL: 'first "quoted" \\' };
  await using own = await startTestServer({ MEMORY_EMBEDDINGS: endpoint.url, ...model });
  const build = String.raw`memory_build_info{version="${version}",storage="${backend}",model="first \"quoted\" \\"}`;
  const before = await readMetrics(own);
  expect(before.get(build)).toBe(1);
  await save(own, 'u', 'peanut');
  await searchByMeaning(own.client, { userId: 'u', query: 'food' });
  const used = 'memory_searches_total{mode="auto",meaning="used"}';
  const isIdle = ({ get }: Metrics) => get('memory_embeddings_pending') === 0;
  const after = await until(() => readMetrics(own), { fits: isIdle });
  expect(after.get(used)).toBeGreaterThan(before.get(used));
  const embedded = 'memory_embedded_memories_total';
  expect(after.get(embedded)).toBe(before.get(embedded) + 1);
});

describe('a gauge shows', () => {
  test('the build, and that the service is healthy', async () => {
    const { get } = await readMetrics(server);
    const build = `memory_build_info{version="${version}",storage="${backend}",model=""}`;
    expect([get(build), get('memory_healthy')]).toEqual([1, 1]);
  });

  test('when the process started', async () => {
    const started = (await readMetrics(server)).get('process_start_time_seconds');
    const now = Date.now() / 1_000;
    expect(started).toBeWithin(now - 86_400, now);
  });

  test('the requests in flight, without the request for the metrics', async () => {
    const inFlight = async () => (await readMetrics(server)).get('memory_http_requests_in_flight');
    expect(await inFlight()).toBe(0);
    const finish = await beginSave(server, 'u');
    await until(async () => (await inFlight()) === 1);
    expect(await finish('slow')).toBe(201);
    expect(await inFlight()).toBe(0);
  });

  test('queued tasks, and the age of the oldest', async () => {
    const tasksIn = (state: string) => `memory_tasks{kind="index",state="${state}"}`;
    const whenRunning = (count: number) =>
      until(() => readMetrics(server), { fits: ({ get }) => get(tasksIn('running')) === count });
    expect((await readMetrics(server)).get('memory_oldest_task_age_seconds')).toBe(0);
    const leased = await leaseRecord(server);
    const accepted = 'UPDATE tasks SET accepted_at = accepted_at - 3600000 WHERE memory_id = $1';
    await rowsOf(server.databaseUrl, accepted, [leased.memoryId]);
    const isOld = ({ get }: Metrics) => get('memory_oldest_task_age_seconds') >= 3_600;
    const busy = await until(() => readMetrics(server), { fits: isOld });
    expect(busy.get('memory_oldest_task_age_seconds')).toBeLessThan(3_700);
    expect((await server.client.health()).oldestPendingSeconds).toBeWithin(3_600, 3_700);
    expect(busy.get(tasksIn('running'))).toBe(1);
    expect(busy.get(tasksIn('waiting'))).toBe(0);
    await leased.fail('failed');
    const ended = await whenRunning(0);
    expect(ended.get(tasksIn('failed'))).toBe(busy.get(tasksIn('failed')) + 1);
  });

  test.if(backend === 'sqlite')('when the last backup was made', async () => {
    using folder = temporaryFolder();
    const series = 'memory_last_backup_timestamp_seconds';
    const last = async () => (await readMetrics(server)).values.get(series);
    const env = { MEMORY_DATABASE_URL: server.databaseUrl };
    expect(await last()).toBeUndefined();
    const begun = Date.now() / 1_000;
    expect(await memory(['backup', folder.file('b.db')], { env })).toMatchObject({ code: 0 });
    const first = await last();
    expect(first).toBeWithin(begun, Date.now() / 1_000);
    expect(await memory(['backup', '-'], { env })).toMatchObject({ code: 0 });
    expect(await last()).toBeGreaterThan(first ?? 0);
    expect(await memory(['backup', folder.file('b.db')], { env })).toMatchObject({ code: 1 });
  });

  test.each([
    ...['memory_database_bytes', 'process_resident_memory_bytes'],
    ...(backend === 'sqlite' ? ['memory_log_bytes'] : []),
    ...(process.platform === 'linux' ? ['process_open_fds', 'process_max_fds'] : []),
  ])('%s', async (name) => {
    expect((await readMetrics(server)).get(name)).toBeGreaterThan(0);
  });
});

test('every metric is documented', async () => {
  const page = await Bun.file('docs/monitoring.md').text();
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const documented = rows.flatMap((row) => row.match(/`(?:memory|process)_\w+`/g) ?? []).sort();
  const shown = [...(await readMetrics(server)).types.keys(), ...optional];
  expect(documented).toEqual([...new Set(shown)].map((name) => `\`${name}\``).sort());
});

/** Metrics that do not exist on every platform or in every state. */
const optional = [
  ...['memory_embeddings_pending', 'memory_last_backup_timestamp_seconds', 'memory_log_bytes'],
  ...['process_max_fds', 'process_open_fds'],
];

const names = ({ values }: Metrics) => [...values.keys()];

test('the number of time series is limited, whatever clients send', async () => {
  const canary = 'canary';
  const attack = async () => {
    for (const method of ['GET', 'PUT', 'OPTIONS', 'TRACE', 'PROPFIND', 'DELETE']) {
      for (const path of [`/${canary}`, `/v1/${canary}`, `/v1/memories/${canary}`, '//', '/%2e']) {
        const target = `${path}${Math.random()}?userId=${canary}`;
        await send(server, method, target).then((response) => response.arrayBuffer());
      }
    }
    await ask(server, 'GET', `/v1/memories/search?userId=u&query=tea&mode=${canary}`);
  };
  await attack();
  const before = names(await readMetrics(server));
  for (let times = 0; times < 5; times += 1) await attack();
  const after = names(await readMetrics(server));
  expect(after).toEqual(before);
  expect(after.filter((name) => name.includes(canary))).toEqual([]);
  const other = 'memory_http_requests_total{route="other",method="other",status="4xx"}';
  expect(after).toContain(other);
});

describe('the format', () => {
  const openMetrics = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
  const plain = 'text/plain; version=0.0.4; charset=utf-8';
  const fromPrometheus =
    'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1';

  test.each([
    ['*/*', plain],
    ['text/plain', plain],
    ['text/html,application/xhtml+xml', plain],
    [fromPrometheus, openMetrics],
    ['application/openmetrics-text; version=1.0.0', openMetrics],
    ['application/openmetrics-text;q=0.2,text/plain;q=0.9', plain],
    ['application/openmetrics-text;q=0,text/plain', plain],
  ])('for Accept: %s is %s', async (accept, type) => {
    const response = await fetch(`${server.url}/metrics`, { headers: { accept } });
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('vary')).toBe('Accept');
    const format = type === plain ? 'text' : 'openMetrics';
    const { values } = parseMetrics(await response.text(), format);
    expect(values.size).toBeGreaterThan(100);
  });
});
