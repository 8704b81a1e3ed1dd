import { errorTable } from '../../sdk/contract/errors.ts';
import { operations } from '../../sdk/contract/operations.ts';

/*
 * The metrics that are counted where something happens, in any thread. The values of every label
 * are listed here, so no client can create time series. A value that is not listed counts as
 * `other`. The names, types and units follow the conventions of Prometheus.
 */

export type Metric = {
  type: 'counter' | 'histogram';
  help: string;
  labels: Record<string, readonly string[]>;
  /** The upper bounds of a histogram's buckets, without +Inf. Empty for a counter. */
  bounds: readonly number[];
  /** How many units of an observed value are counted as 1, because counts are integers. */
  unit: number;
};

/** The routes with a label of their own; the files of the front page do not need one. */
export const routeLabels: readonly string[] = [
  ...new Set(Object.values(operations).map(({ path }) => path)),
  ...['/', '/console', '/docs', '/health/live', '/metrics', '/openapi.json'],
  ...['/mcp', '/mcp/users/:userId', '/v1', '/v1/*'],
];

const requestLabels = {
  route: routeLabels,
  method: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
};

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const microsecond = 1e-6;

export const metrics = {
  memory_http_requests_total: counter(
    'HTTP requests answered, by route, method and status class.',
    {
      ...requestLabels,
      status: ['2xx', '3xx', '4xx', '5xx'],
    },
  ),
  memory_http_request_duration_seconds: timing(
    'Time from the head of a request to its response.',
    requestLabels,
  ),
  memory_http_errors_total: counter('Error responses, by their error code.', {
    error: Object.keys(errorTable),
  }),
  memory_searches_total: counter('Searches, by requested mode and by the use of the model.', {
    mode: ['auto', 'words', 'meaning'],
    meaning: ['used', 'partial', 'off', 'unavailable'],
  }),
  memory_search_index_lookups_total: counter(
    "Searches that found their user's index in memory (hit) or had to read or build it (miss).",
    { result: ['hit', 'miss'] },
  ),
  memory_search_index_restores_total: counter(
    'Search indexes read from the database instead of being built.',
    {},
  ),
  memory_search_index_evictions_total: counter('Search indexes dropped to free memory.', {}),
  memory_commit_writes: {
    type: 'histogram',
    help: 'Writes that shared one commit.',
    labels: {},
    bounds: [1, 2, 4, 8, 16, 32, 64, 128],
    unit: 1,
  },
  memory_commit_duration_seconds: timing(
    'SQLite: duration of COMMIT, which syncs the log to disk. PostgreSQL: of the transaction.',
    {},
  ),
  memory_task_attempts_total: counter('Attempts of queued tasks, by kind and outcome.', {
    kind: ['index'],
    outcome: ['complete', 'retried', 'failed'],
  }),
  memory_embedded_memories_total: counter('Memories whose vectors were stored.', {}),
  memory_expired_memories_total: counter('Memories deleted because they had expired.', {}),
  memory_erased_users_total: counter('Requests that deleted all memories of a user.', {}),
  memory_database_rebuilds_total: counter(
    'Rebuilds of the SQLite file, which remove erased text.',
    {},
  ),
  memory_event_loop_delay_seconds: timing('How late a timer of the HTTP thread was.', {}),
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof metrics;

export type LabelsOf<Name extends MetricName> = Record<
  keyof (typeof metrics)[Name]['labels'],
  string
>;

function counter<const Labels extends Metric['labels']>(help: string, labels: Labels) {
  return { type: 'counter', help, labels, bounds: [], unit: 1 } as const;
}

function timing<const Labels extends Metric['labels']>(help: string, labels: Labels) {
  return { type: 'histogram', help, labels, bounds: seconds, unit: microsecond } as const;
}
