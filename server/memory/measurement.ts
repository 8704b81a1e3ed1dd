import type { MeasuredGroup, MeasuredUser, Measurement } from '../storage/project-storage.ts';

/** The number of users to keep for each order: as many as a page can have. */
const maxLargest = 100;

/**
 * Adds up memories in the order of their users. A set may be added up in consecutive parts:
 * `before` is then the last user of the previous part, who was counted there.
 */
export function measure(groups: Iterable<MeasuredGroup>, before: string | null): Measurement {
  const sum = nothing();
  const users = new Map<string, MeasuredUser>();
  for (const group of groups) {
    sum.memories += group.memories;
    sum.bytes += group.bytes;
    sum.byType[group.type] += group.memories;
    sum.byStatus[group.status] += group.memories;
    sum.embedded += group.embedded;
    sum.oldestAt = Math.min(sum.oldestAt ?? group.oldestAt, group.oldestAt);
    sum.newestAt = Math.max(sum.newestAt ?? group.newestAt, group.newestAt);
    addUser(users, group);
  }
  const isCounted = before !== null && users.has(before);
  return { ...sum, users: users.size - (isCounted ? 1 : 0), largest: largestOf(users) };
}

/** Adds up two consecutive parts. */
export function addPart(sum: Measurement, part: Measurement): Measurement {
  const users = new Map<string, MeasuredUser>();
  for (const user of [...sum.largest, ...part.largest]) addUser(users, user);
  return {
    users: sum.users + part.users,
    memories: sum.memories + part.memories,
    bytes: sum.bytes + part.bytes,
    byType: added(sum.byType, part.byType),
    byStatus: added(sum.byStatus, part.byStatus),
    embedded: sum.embedded + part.embedded,
    oldestAt: extreme(Math.min, sum.oldestAt, part.oldestAt),
    newestAt: extreme(Math.max, sum.newestAt, part.newestAt),
    largest: largestOf(users),
  };
}

export function nothing(): Measurement {
  return {
    users: 0,
    memories: 0,
    bytes: 0,
    byType: { memory: 0, ticket: 0, document: 0, conversation: 0, event: 0, profile: 0 },
    byStatus: { processing: 0, complete: 0, failed: 0 },
    embedded: 0,
    oldestAt: null,
    newestAt: null,
    largest: [],
  };
}

/** Returns the users in descending order of memories or bytes. */
export function sortedBy<User extends MeasuredUser>(
  order: 'memories' | 'bytes',
  users: readonly User[],
): User[] {
  return users.toSorted((a, b) => b[order] - a[order]);
}

function addUser(users: Map<string, MeasuredUser>, { userId, memories, bytes }: MeasuredUser) {
  const known = users.get(userId);
  users.set(userId, {
    userId,
    memories: memories + (known?.memories ?? 0),
    bytes: bytes + (known?.bytes ?? 0),
  });
}

/** Keeps the order, and the first and last user, who may have memories in the parts next to it. */
function largestOf(users: Map<string, MeasuredUser>): MeasuredUser[] {
  const all = [...users.values()];
  const kept = new Set([
    ...sortedBy('memories', all).slice(0, maxLargest),
    ...sortedBy('bytes', all).slice(0, maxLargest),
    ...all.slice(0, 1),
    ...all.slice(-1),
  ]);
  return all.filter((user) => kept.has(user));
}

function added<Name extends string>(a: Record<Name, number>, b: Record<Name, number>) {
  const sum = { ...a };
  for (const name in b) sum[name] += b[name];
  return sum;
}

function extreme(of: (...values: number[]) => number, a: number | null, b: number | null) {
  return a === null || b === null ? (a ?? b) : of(a, b);
}
