import type { Stats } from '../../sdk/contract/project.ts';
import { timeOrNull } from '../memory/json.ts';
import { nothing } from '../memory/measurement.ts';
import type { Storage } from '../storage/storage.ts';
import type { Read } from '../storage/types/memories.ts';
import type { Measurement } from '../storage/types/project.ts';

/** Fewer memories than this are measured again for each request. */
const cachedMemories = 1_000;
const cachedMs = 60_000;

export function shownStats({ oldestAt, newestAt, ...sums }: Measurement): Stats {
  const { processing: pending, failed } = sums.byStatus;
  const { embedded, ...counts } = sums;
  const times = { oldestAt: timeOrNull(oldestAt), newestAt: timeOrNull(newestAt) };
  return { ...counts, pending, failed, embedded, ...times };
}

type Cached = { measurement: Promise<Measurement>; until: number };

/**
 * Creates a function that measures memories in the reader threads, part by part. A measurement of
 * many memories is kept for a minute, and concurrent requests share it.
 */
export function createMeasure(storage: Pick<Storage, 'measureMemories'>, clock: () => number) {
  const cache = new Map<string, Cached>();

  async function measure(read: Read): Promise<Measurement> {
    let sum = nothing();
    let after: string | null = null;
    do {
      ({ sum, next: after } = await storage.measureMemories({ ...read, sum, after }));
    } while (after !== null);
    return sum;
  }

  function begin(name: string, read: Read): Promise<Measurement> {
    const measurement = measure(read);
    const cached = { measurement, until: Number.POSITIVE_INFINITY };
    cache.set(name, cached);
    measurement.then(
      ({ memories }) => {
        cached.until = clock() + (memories < cachedMemories ? 0 : cachedMs);
      },
      () => cache.delete(name),
    );
    return measurement;
  }

  return (read: Read): Promise<Measurement> => {
    const now = clock();
    for (const [name, { until }] of cache) if (until <= now) cache.delete(name);
    const name = JSON.stringify([read.projectId, read.onlyUserId]);
    return cache.get(name)?.measurement ?? begin(name, read);
  };
}
