import { useState } from 'preact/hooks';
import type { Health as State } from '../../sdk/index.ts';
import { Chart, type Line, maxValues } from './chart.tsx';
import { quantile, rate, readSample, type Sample, total } from './figures.ts';
import { bytesText } from './format.ts';
import { address } from './key.ts';
import { useEvery, useLoaded } from './loading.ts';
import { Facts, Failure, Screen } from './parts.tsx';
import type { Session } from './session.ts';

const everyMs = 2_000;

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
            Failed: count(value.failed),
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
  return readSample(Date.now(), text);
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

type Labels = Record<string, string>;
type Where = (labels: Labels) => boolean;

const isSearch = ({ route }: Labels) => route === '/v1/memories/search';
const isSave = ({ method, route = '' }: Labels) =>
  method === 'POST' && /^\/v1\/(?:memories$|ingest|import)/.test(route);

const perSecond = (value: number) => `${value.toFixed(1)}/s`;
const milliseconds = (value: number) => `${(value * 1_000).toFixed(value < 0.01 ? 1 : 0)} ms`;
const count = (value: number) => value.toLocaleString('en');

function Charts({ of: samples }: { of: Sample[] }) {
  const between = (name: string, read: (before: Sample, after: Sample) => number | null): Line => ({
    name,
    values: samples.slice(1).map((after, at) => read(samples[at] ?? after, after)),
  });
  const rateOf = (name: string, where: Where) =>
    between(name, (before, after) =>
      rate(before, after, { name: 'memory_http_requests_total', where }),
    );
  const latency = (name: string, q: number, where: Where) =>
    between(name, (before, after) =>
      quantile(before, after, { name: 'memory_http_request_duration_seconds', where }, q),
    );
  const gauge = (name: string, metric: string): Line => ({
    name,
    values: samples.map((sample) => total(sample, { name: metric })),
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
