import type { Stats } from '../../sdk/contract/project.ts';
import { timeOrNull } from '../memory/json.ts';
import { addPart, nothing } from '../memory/measurement.ts';
import type { Measurement, UserRange } from '../storage/project-storage.ts';
import type { Read, Storage } from '../storage/storage.ts';

/** Measures the memories of a project, of a user, or of the users in a range. */
export type Measure = (read: Read, users?: UserRange) => Promise<Measurement>;

/** Fewer memories than this are measured again for each request. */
const cachedMemories = 1_000;
const cachedMs = 60_000;
/** The number of measurements to cache. One takes up to some 50 KB. */
const maxCachedMeasurements = 200;

export function shownStats({ largest: _, oldestAt, newestAt, ...sums }: Measurement): Stats {
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
export function createMeasure(
  storage: Pick<Storage, 'measureMemories'>,
  clock: () => number,
): Measure {
  const cache = new Map<string, Cached>();

  async function measure(read: Read, users: UserRange | null): Promise<Measurement> {
    let sum = nothing();
    let after: string | null = null;
    do {
      const part = await storage.measureMemories({ ...read, users, after });
      sum = addPart(sum, part.sum);
      after = part.next;
    } while (after !== null);
    return sum;
  }

  /** Drops old measurements, because they contain user ids. */
  function sweep(): void {
    const [oldest] = cache.keys();
    if (cache.size >= maxCachedMeasurements && oldest !== undefined) cache.delete(oldest);
    const now = clock();
    for (const [name, { until }] of cache) if (until <= now) cache.delete(name);
  }

  function begin(name: string, read: Read, users: UserRange | null): Promise<Measurement> {
    const measurement = measure(read, users);
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

  return (read, users) => {
    sweep();
    const name = JSON.stringify([read.projectId, read.onlyUserId ?? null, users ?? null]);
    return cache.get(name)?.measurement ?? begin(name, read, users ?? null);
  };
}
