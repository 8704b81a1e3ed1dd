import {
  growth,
  type Labels,
  type Metrics,
  quantile,
  type Span,
} from '../../server/metrics/reading.ts';

/** The load of a server between two readings of its metrics. Null stands for no value. */
export type Load = ReturnType<typeof loadOf>;

/** The readings themselves are not part of the load. */
const isLoad = ({ route }: Labels) => route !== '/metrics';
const requests = 'memory_http_requests_total';
const durations = 'memory_http_request_duration_seconds';
const shownRoutes = 10;

export function loadOf(span: Span, seconds: number, now: number) {
  const { after } = span;
  const perSecond = (...of: [name: string, where?: (labels: Labels) => boolean]) =>
    rounded(growth(span, ...of) / seconds);
  const tasks = (wanted: string) => after.sum('memory_tasks', ({ state }) => state === wanted);
  return {
    time: new Date(now).toISOString(),
    version: after.labelsOf('memory_build_info')[0]?.version ?? null,
    healthy: after.sum('memory_healthy') === 1,
    requestsPerSecond: perSecond(requests, isLoad),
    ...latencies(span, isLoad),
    failedPerSecond: perSecond(requests, ({ status }) => status === '5xx'),
    rateLimitedPerSecond: perSecond(
      'memory_http_errors_total',
      ({ error }) => error === 'rate_limited',
    ),
    inFlight: after.sum('memory_http_requests_in_flight'),
    cores: perSecond('process_cpu_seconds_total'),
    memoryBytes: after.sum('process_resident_memory_bytes'),
    eventLoopP99Ms: inMs(quantile(span, 0.99, 'memory_event_loop_delay_seconds')),
    commitsPerSecond: perSecond('memory_commit_writes_count'),
    writesPerSecond: perSecond('memory_commit_writes_sum'),
    commitP99Ms: inMs(quantile(span, 0.99, 'memory_commit_duration_seconds')),
    searchesPerSecond: perSecond('memory_searches_total'),
    waitingTasks: tasks('waiting'),
    runningTasks: tasks('running'),
    failedTasks: tasks('failed'),
    oldestTaskSeconds: after.sum('memory_oldest_task_age_seconds'),
    pendingEmbeddings: after.sum('memory_embeddings_pending'),
    embeddedPerSecond: perSecond('memory_embedded_memories_total'),
    ...filesOf(after),
    routes: routesOf(span, seconds),
  };
}

/** PostgreSQL has its own log and backups. */
export function filesOf(metrics: Metrics) {
  const lastBackup = metrics.sum('memory_last_backup_timestamp_seconds');
  return {
    databaseBytes: metrics.sum('memory_database_bytes'),
    logBytes: metrics.sum('memory_log_bytes'),
    lastBackupAt: lastBackup ? new Date(lastBackup * 1_000).toISOString() : null,
  };
}

function routesOf(span: Span, seconds: number) {
  const known = span.after.labelsOf(`${durations}_count`).filter(isLoad);
  return known
    .map(({ method = '', route = '' }) => {
      const isOwn = (labels: Labels) => labels.method === method && labels.route === route;
      const requestsPerSecond = rounded(growth(span, `${durations}_count`, isOwn) / seconds);
      return { method, route, requestsPerSecond, ...latencies(span, isOwn) };
    })
    .filter(({ requestsPerSecond }) => requestsPerSecond > 0)
    .sort((a, b) => b.requestsPerSecond - a.requestsPerSecond)
    .slice(0, shownRoutes);
}

function latencies(span: Span, where: (labels: Labels) => boolean) {
  const ms = (share: number) => inMs(quantile(span, share, durations, where));
  return { p50Ms: ms(0.5), p99Ms: ms(0.99) };
}

/** Rounds to three decimals, because the figures are estimates. */
function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

function inMs(seconds: number | null): number | null {
  return seconds === null ? null : rounded(seconds * 1_000);
}
