import { Elysia } from 'elysia';
import * as headerNames from '../../sdk/contract/headers.ts';
import type { Health } from '../../sdk/contract/status.ts';
import { ServiceError } from '../errors.ts';
import { countedFamilies } from '../metrics/counted.ts';
import { contentTypes, formatFor, renderMetrics } from '../metrics/exposition.ts';
import { gaugeFamilies, type Observed } from '../metrics/gauges.ts';
import { processFamilies } from '../metrics/process.ts';
import { createSubnets } from './client-address.ts';
import type { Work } from './health.ts';
import { namesLoopback } from './hosts.ts';
import { varyByAccept } from './response.ts';
import type { Services } from './services.ts';

type Reads = { work(): Promise<Work>; readHealth(): Promise<Health> };

/** Serves the figures of this process for Prometheus. */
export function metrics(services: Services, reads: Reads) {
  const observe = createObserver(services, reads);
  return new Elysia().get('/metrics', async ({ request, set }) => {
    await assertReadable(request, services);
    const families = [
      ...gaugeFamilies(await observe()),
      ...countedFamilies(),
      ...processFamilies(),
    ];
    const format = formatFor(request.headers.get('accept'));
    set.headers['content-type'] = contentTypes[format];
    varyByAccept(set);
    return renderMetrics(families, format);
  });
}

/**
 * Throws unless the key is for the metrics, or the client is on this machine. A request that a
 * proxy on this machine has forwarded may come from anywhere.
 */
async function assertReadable(request: Request, services: Services): Promise<void> {
  const { config, authenticator, addressOf } = services;
  if (config.metrics === 'off') {
    throw new ServiceError('not_found', 'the metrics are turned off with MEMORY_METRICS');
  }
  const isLocal = loopback.has(addressOf(request)) && namesLoopback(request);
  if (isLocal && !isForwarded(request)) return;
  const header = request.headers.get(headerNames.authorization);
  const { metricsOnly } = await authenticator.authenticate(header, () => addressOf(request));
  if (metricsOnly) return;
  throw new ServiceError(
    'forbidden',
    'only a key made with "memory keys create --metrics" may read this',
  );
}

const loopback = createSubnets(['127.0.0.0/8', '::1']);

/** The headers that proxies add, apart from those that begin with `x-forwarded-`. */
const forwardingHeaders = ['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'true-client-ip'];

function isForwarded({ headers }: Request): boolean {
  return (
    forwardingHeaders.some((name) => headers.has(name)) ||
    headers.keys().some((name) => name.startsWith('x-forwarded-'))
  );
}

function createObserver(services: Services, reads: Reads): () => Promise<Observed> {
  const { version, storage, embedder, inFlight, now } = services;
  const health = timely(reads.readHealth);
  const work = timely(reads.work);
  const figures = timely(() => storage.figures());
  return async () => {
    const [state, counted, sizes] = await Promise.all([health(), work(), figures()]);
    return {
      version,
      storage: storage.name,
      model: embedder?.model ?? '',
      // Without this request.
      inFlight: Math.max(0, inFlight() - 1),
      health: state?.status ?? null,
      queue: counted?.queue ?? null,
      toEmbed: embedder === null ? null : (counted?.toEmbed ?? null),
      figures: sizes,
      now: now(),
    };
  };
}

/** How long a request for the metrics waits for busy threads or the database. */
const maxReadMs = 1_000;

/** Returns what `read` returns, null if it fails, or the last result if it takes too long. */
function timely<T>(read: () => Promise<T>): () => Promise<T | null> {
  let last: T | null = null;
  let reading: Promise<void> | null = null;
  async function refresh(): Promise<void> {
    last = await read().catch(() => null);
    reading = null;
  }
  return async () => {
    reading ??= refresh();
    await Promise.race([reading, Bun.sleep(maxReadMs)]);
    return last;
  };
}
