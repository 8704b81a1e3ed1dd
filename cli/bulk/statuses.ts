import type { IngestStatus, MemoryClient } from '../../sdk/index.ts';
import type { Throttled } from '../client/rate-limiter.ts';

/** What the service says of it; `status` is null where it is gone. */
export type Seen = {
  memoryId: string;
  state: IngestStatus['status'] | 'gone';
  status: IngestStatus | null;
};

type OnSeen = (seen: Seen) => Promise<void>;

const concurrency = 4;
/** Of the contract: the most ids in one request. */
const perRequest = 1_000;

/** Reads the status of many memories. Those that get no answer now are left out. */
export async function readStatuses(
  client: MemoryClient,
  ids: string[],
  throttled: Throttled,
  onSeen: OnSeen,
): Promise<void> {
  const requests = Array.from({ length: Math.ceil(ids.length / perRequest) }, (_, index) =>
    ids.slice(index * perRequest, (index + 1) * perRequest),
  ).values();
  async function work(): Promise<void> {
    for (const some of requests) await readSome(client, some, throttled, onSeen);
  }
  await Promise.all(Array.from({ length: concurrency }, work));
}

async function readSome(
  client: MemoryClient,
  ids: string[],
  throttled: Throttled,
  onSeen: OnSeen,
): Promise<void> {
  const answer = await throttled((options) => client.statusMany(ids, options));
  if (answer === undefined) return;
  for (const status of answer.items) {
    await onSeen({ memoryId: status.memoryId, state: status.status, status });
  }
  for (const memoryId of answer.notFound) await onSeen({ memoryId, state: 'gone', status: null });
}
