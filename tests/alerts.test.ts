import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { YAML } from 'bun';

/* The alerts in deploy. promtool runs each against invented series; without it, this is skipped. */

const rules = join(import.meta.dir, '../deploy/prometheus-alerts.yaml');
const text = await Bun.file(rules).text();
type Series = Record<string, string>;
type Rules = { groups: { rules: { alert: string; expr: string }[] }[] };
const alerts = (YAML.parse(text) as Rules).groups.flatMap((group) => group.rules);

/** For each alert, series that make it fire, as `name{labels}` and values each minute. */
const firing: Record<string, Series> = {
  MemoryServiceDown: { up: '0x120' },
  MemoryServiceFailing: { memory_healthy: '1 0x120' },
  MemoryServiceErrors: {
    'memory_http_requests_total{status="2xx"}': '0+600x120',
    'memory_http_requests_total{status="5xx"}': '0+60x120',
  },
  MemoryServiceInternalErrors: {
    'memory_http_errors_total{error="internal"}': '0x118 1 1',
  },
  MemoryServiceSlow: histogram('memory_http_request_duration_seconds', 'route="/v1/memories"'),
  MemoryServiceSlowDisk: histogram('memory_commit_duration_seconds'),
  MemoryServiceQueueOld: { memory_oldest_task_age_seconds: '0+60x120' },
  MemoryServiceTasksFail: {
    'memory_task_attempts_total{outcome="failed"}': '0x110 1x10',
  },
  MemoryServiceEmbeddingsStall: {
    memory_embeddings_pending: '5x120',
    memory_embedded_memories_total: '7x120',
  },
  MemoryServiceModelUnavailable: {
    'memory_searches_total{meaning="used"}': '0+60x120',
    'memory_searches_total{meaning="unavailable"}': '0+60x120',
  },
  MemoryServiceLogLong: { memory_log_bytes: '0+100000000x120' },
  MemoryServiceBackupOld: { memory_last_backup_timestamp_seconds: '-200000x120' },
  MemoryServiceNeverBackedUp: { memory_last_backup_timestamp_seconds: '' },
  MemoryServiceWrongKeys: { 'memory_http_errors_total{error="unauthorized"}': '0+600x120' },
  MemoryServiceBusy: histogram('memory_event_loop_delay_seconds'),
  MemoryServiceFilesExhausted: { process_open_fds: '900x120', process_max_fds: '1000x120' },
};

/** Values of over two seconds. */
function histogram(name: string, labels = ''): Series {
  const bucket = (le: string) => `${name}_bucket{${labels}${labels && ','}le="${le}"}`;
  return { [bucket('1.0')]: '0x120', [bucket('2.5')]: '0+60x120', [bucket('+Inf')]: '0+60x120' };
}

/** Series that make no alert fire. */
const quiet: Series = {
  up: '1x120',
  memory_healthy: '1x120',
  'memory_http_requests_total{status="2xx"}': '0+600x120',
  'memory_http_errors_total{error="internal"}': '3x120',
  memory_oldest_task_age_seconds: '2x120',
  memory_embeddings_pending: '5x120',
  memory_embedded_memories_total: '0+60x120',
  'memory_build_info{storage="sqlite"}': '1x120',
  memory_last_backup_timestamp_seconds: '0+60x120',
  process_open_fds: '40x120',
  process_max_fds: '1000x120',
};

const withJob = (series: string) => {
  const job = 'job="memory",instance="a"';
  return series.includes('{') ? series.replace('{', `{${job},`) : `${series}{${job}}`;
};

/** Tests how many alerts with these labels fire at the end of the series. */
function testOf(name: string, series: Series, labels: string, count: number) {
  const { interval, end } = name === slow ? { interval: '1h', end: '60h' } : usual;
  const expr = `count(ALERTS{alertstate="firing"${labels}}) or vector(0)`;
  return {
    name,
    interval,
    input_series: Object.entries(series)
      .filter(([, values]) => values !== '')
      .map(([one, values]) => ({ series: withJob(one), values })),
    promql_expr_test: [{ expr, eval_time: end, exp_samples: [{ labels: '{}', value: count }] }],
  };
}

const usual = { interval: '1m', end: '119m' };
/** This alert fires after two days, in which promtool evaluates the rules only every hour. */
const slow = 'MemoryServiceNeverBackedUp';

async function runTests(tests: ReturnType<typeof testOf>[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'memory-alerts-'));
  const file = join(folder, 'tests.yaml');
  const [evaluation_interval] = tests.map(({ interval }) => interval);
  await Bun.write(file, JSON.stringify({ rule_files: [rules], evaluation_interval, tests }));
  const { code, said } = await promtool('test', 'rules', file);
  rmSync(folder, { recursive: true });
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('SUCCESS') });
}

async function promtool(...args: string[]): Promise<{ code: number; said: string }> {
  const child = Bun.spawn(['promtool', ...args], { stdout: 'pipe', stderr: 'pipe' });
  const said = (await child.stdout.text()) + (await child.stderr.text());
  return { said, code: await child.exited };
}

test('every alert is documented, and uses documented metrics', async () => {
  const page = await Bun.file(join(import.meta.dir, '../docs/monitoring.md')).text();
  const used = new Set(alerts.flatMap(({ expr }) => expr.match(/\b(?:memory|process)_\w+/g) ?? []));
  const isDocumented = (name: string) => page.includes(`\`${name.replace(/_bucket$/, '')}\``);
  expect(used.size).toBeGreaterThan(10);
  expect([...used].filter((name) => !isDocumented(name))).toEqual([]);
  const named = alerts.map(({ alert }) => alert.replace('MemoryService', ''));
  expect(named.filter((name) => !page.includes(`${name}\``))).toEqual([]);
});

const hasPromtool = Bun.which('promtool') !== null;

test.skipIf(!hasPromtool)('promtool accepts the rules (skipped unless installed)', async () => {
  expect(await promtool('check', 'rules', rules)).toMatchObject({ code: 0 });
});

test.skipIf(!hasPromtool)('each alert fires for its series, and none if all is well', async () => {
  const tests = alerts.map(({ alert }) =>
    testOf(alert, { ...quiet, ...firing[alert] }, `,alertname="${alert}"`, 1),
  );
  const [late, others] = [true, false].map((isSlow) =>
    tests.filter(({ name }) => (name === slow) === isSlow),
  );
  expect(late).toHaveLength(1);
  await runTests(late ?? []);
  await runTests([...(others ?? []), testOf('quiet', quiet, '', 0)]);
});
