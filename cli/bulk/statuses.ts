import type { IngestStatus, Memory, MemoryClient } from '../../sdk/index.ts';
import type { Throttled } from '../client/rate-limiter.ts';

/** A memory that is waited for. Many of one user are looked up in few requests. */
export type Awaited = { memoryId: string; userId?: string | undefined };

/** What the service says of it. `status` is null where only a list was read. */
export type Seen = {
  memoryId: string;
  state: Memory['status'] | 'gone';
  status: IngestStatus | null;
};

type OnSeen = (seen: Seen) => Promise<void>;

const concurrency = 8;
const pageSize = 100;
/** Fewer are asked one by one. */
const fewest = 5;

/**
 * Reads the status of many memories. Those that get no answer now are left out.
 *
 * Once the API has one call for the status of many, this function becomes that call.
 */
export async function readStatuses(
  client: MemoryClient,
  awaited: Awaited[],
  throttled: Throttled,
  onSeen: OnSeen,
): Promise<void> {
  const { alone = [], ...ofUsers } = groupsOf(awaited);
  const lookups = [
    ...Object.values(ofUsers).map((some) => () => readUser(client, some ?? [], throttled, onSeen)),
    ...alone.map((one) => () => readOne(client, one.memoryId, throttled, onSeen)),
  ].values();
  async function work(): Promise<void> {
    for (const lookUp of lookups) await lookUp();
  }
  await Promise.all(Array.from({ length: concurrency }, work));
}

function groupsOf(awaited: Awaited[]) {
  const counts = new Map<string | undefined, number>();
  for (const { userId } of awaited) counts.set(userId, (counts.get(userId) ?? 0) + 1);
  return Object.groupBy(awaited, ({ userId }) => {
    const isAlone = userId === undefined || (counts.get(userId) ?? 0) < fewest;
    return isAlone ? 'alone' : `user ${userId}`;
  });
}

/** By pages of the newest memories, until these find less than asking one by one would. */
async function readUser(
  client: MemoryClient,
  some: Awaited[],
  throttled: Throttled,
  onSeen: OnSeen,
) {
  const userId = some[0]?.userId ?? '';
  const left = new Set(some.map(({ memoryId }) => memoryId));
  let cursor: string | null | undefined;
  let misses = 0;
  while (cursor !== null && left.size > 0 && misses <= left.size / fewest) {
    const query = { userId, limit: pageSize, ...(cursor !== undefined && { cursor }) };
    const answer = await throttled((options) => client.list(query, options));
    if (answer === undefined) return;
    const found = answer.items.filter(({ id }) => left.delete(id));
    if (found.length === 0) misses += 1;
    for (const { id, status } of found) {
      // Only its own status says why it failed.
      if (status === 'failed') await readOne(client, id, throttled, onSeen);
      else await onSeen({ memoryId: id, state: status, status: null });
    }
    cursor = answer.nextCursor;
  }
  for (const memoryId of left) await readOne(client, memoryId, throttled, onSeen);
}

async function readOne(
  client: MemoryClient,
  memoryId: string,
  throttled: Throttled,
  onSeen: OnSeen,
) {
  const { NotFoundError } = await import('../../sdk/index.ts');
  const status = await throttled((options) => client.status(memoryId, options)).catch((error) => {
    if (error instanceof NotFoundError && error.code === 'not_found') return null;
    throw error;
  });
  if (status === undefined) return;
  await onSeen({ memoryId, state: status === null ? 'gone' : status.status, status });
}
