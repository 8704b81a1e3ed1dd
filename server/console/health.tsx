import { useState } from 'preact/hooks';
import type { Health as State } from '../../sdk/index.ts';
import {
  growth,
  type Labels,
  Metrics,
  quantile,
  type Span,
  type Where,
} from '../metrics/reading.ts';
import { Chart, type Line, maxValues } from './chart.tsx';
import { bytesText } from './format.ts';
import { address } from './key.ts';
import { useEvery, useLoaded } from './loading.ts';
import { Facts, Failure, Screen } from './parts.tsx';
import { hrefTo } from './router.ts';
import type { Session } from './session.ts';

const everyMs = 2_000;

type Sample = { at: number; metrics: Metrics };

/** The state of the service and of the project, and the metrics of the last minutes. */
export function Health({ session: { client } }: { session: Session }) {
  const health = useLoaded((signal) => client.health({ signal }), [client]);
  const stats = useLoaded((signal) => client.stats({ signal }), [client]);
  const [samples, setSamples] = useState<Sample[]>([]);
  const metrics = useLoaded(async (signal) => {
    const sample = await readMetrics(signal);
    setSamples((before) => [...before, sample].slice(-maxValues - 1));
  }, []);
  useEvery(everyMs, () => {
    health.reload();
    // Without access to the metrics, every further request would be an error as well.
    if (metrics.error === null) metrics.reload();
  });
  useEvery(60_000, stats.reload);
  const { value } = stats;
  return (
    <Screen title="Health">
      <Failure error={health.error} />
      {health.value !== null && <Service state={health.value} />}
      <h2>This project</h2>
      <Failure error={stats.error} />
      {value !== null && (
        <Facts
          of={{
            Users: count(value.users),
            Memories: count(value.memories),
            'Size of the texts': bytesText(value.bytes),
            'In the queue': count(value.pending),
            Failed: <a href={hrefTo(['queue'], { status: 'failed' })}>{count(value.failed)}</a>,
            Embedded: shareText(value.embedded, value.memories),
          }}
        />
      )}
      <h2>The service, in the last two minutes</h2>
      {metrics.error !== null && (
        <p class="notice">
          The metrics are not shown: {metrics.error.message}. Without a key, they can be read only
          on the machine of the service.
        </p>
      )}
      {metrics.error === null && <Charts of={samples} />}
    </Screen>
  );
}

async function readMetrics(signal: AbortSignal): Promise<Sample> {
  const response = await fetch(`${address}/metrics`, { signal, headers: { accept: 'text/plain' } });
  const text = await response.text();
  if (!response.ok) throw new Error(JSON.parse(text).message);
  return { at: Date.now(), metrics: new Metrics(text) };
}

function Service({ state }: { state: State }) {
  const { status, version, storage, pending, oldestPendingSeconds, embeddings, message } = state;
  const waited =
    oldestPendingSeconds === null ? '' : `, for up to ${oldestPendingSeconds.toFixed(0)} s`;
  return (
    <>
      {message !== undefined && <p class="failure">{message}</p>}
      <Facts
        of={{
          Health: <span class={status === 'ok' ? 'ok' : 'failing'}>{status}</span>,
          Version: version,
          Database: storage,
          'In the queue': count(pending) + waited,
          Model: embeddings.model ?? 'none',
          'To be embedded': count(embeddings.pending),
        }}
      />
    </>
  );
}

function shareText(part: number, whole: number): string {
  return whole === 0 ? '–' : `${Math.floor((part / whole) * 100)} %`;
}

const isSearch = ({ route }: Labels) => route === '/v1/memories/search';
const isSave = ({ method, route = '' }: Labels) =>
  method === 'POST' && /^\/v1\/(?:memories$|ingest|import)/.test(route);

const perSecond = (value: number) => `${value.toFixed(1)}/s`;
const milliseconds = (value: number) => `${(value * 1_000).toFixed(value < 0.01 ? 1 : 0)} ms`;
const count = (value: number) => value.toLocaleString('en');

const requests = 'memory_http_requests_total';
const durations = 'memory_http_request_duration_seconds';

function Charts({ of: samples }: { of: Sample[] }) {
  const between = (name: string, read: (span: Span, seconds: number) => number | null): Line => ({
    name,
    values: samples.slice(1).map((to, at) => {
      const from = samples[at] ?? to;
      const span = { before: from.metrics, after: to.metrics };
      return wasRestarted(span) ? null : read(span, (to.at - from.at) / 1_000);
    }),
  });
  const rateOf = (name: string, where: Where) =>
    between(name, (span, seconds) =>
      span.after.sum(requests, where) === null ? null : growth(span, requests, where) / seconds,
    );
  const latency = (name: string, share: number, where: Where) =>
    between(name, (span) => quantile(span, share, durations, where));
  const gauge = (name: string, metric: string): Line => ({
    name,
    values: samples.map(({ metrics }) => metrics.sum(metric)),
  });
  return (
    <div class="charts">
      <Chart
        title="Requests"
        format={perSecond}
        lines={[rateOf('saves', isSave), rateOf('searches', isSearch)]}
      />
      <Chart
        title="Time to save"
        format={milliseconds}
        lines={[latency('p50', 0.5, isSave), latency('p99', 0.99, isSave)]}
      />
      <Chart
        title="Time to search"
        format={milliseconds}
        lines={[latency('p50', 0.5, isSearch), latency('p99', 0.99, isSearch)]}
      />
      <Chart
        title="Backlog"
        format={count}
        lines={[gauge('queue', 'memory_tasks'), gauge('to embed', 'memory_embeddings_pending')]}
      />
      <Chart
        title="Disk"
        format={bytesText}
        lines={[gauge('database', 'memory_database_bytes'), gauge('log', 'memory_log_bytes')]}
      />
    </div>
  );
}

function wasRestarted({ before, after }: Span): boolean {
  return (after.sum(requests) ?? 0) < (before.sum(requests) ?? 0);
}
