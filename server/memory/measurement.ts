import type { MeasuredGroup, Measurement } from '../storage/project-storage.ts';

/**
 * Adds up memories in the order of their users. A set may be added up in consecutive parts:
 * `before` is then the last user of the previous part, who was counted there.
 */
export function measure(groups: Iterable<MeasuredGroup>, before: string | null): Measurement {
  const sum = nothing();
  const users = new Set<string>();
  for (const group of groups) {
    sum.memories += group.memories;
    sum.bytes += group.bytes;
    sum.byType[group.type] += group.memories;
    sum.byStatus[group.status] += group.memories;
    sum.embedded += group.embedded;
    sum.oldestAt = Math.min(sum.oldestAt ?? group.oldestAt, group.oldestAt);
    sum.newestAt = Math.max(sum.newestAt ?? group.newestAt, group.newestAt);
    users.add(group.userId);
  }
  const isCounted = before !== null && users.has(before);
  return { ...sum, users: users.size - (isCounted ? 1 : 0) };
}

/** Adds up two consecutive parts. */
export function addPart(sum: Measurement, part: Measurement): Measurement {
  return {
    users: sum.users + part.users,
    memories: sum.memories + part.memories,
    bytes: sum.bytes + part.bytes,
    byType: added(sum.byType, part.byType),
    byStatus: added(sum.byStatus, part.byStatus),
    embedded: sum.embedded + part.embedded,
    oldestAt: extreme(Math.min, sum.oldestAt, part.oldestAt),
    newestAt: extreme(Math.max, sum.newestAt, part.newestAt),
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
  };
}

function added<Name extends string>(a: Record<Name, number>, b: Record<Name, number>) {
  const sum = { ...a };
  for (const name in b) sum[name] += b[name];
  return sum;
}

function extreme(of: (...values: number[]) => number, a: number | null, b: number | null) {
  return a === null || b === null ? (a ?? b) : of(a, b);
}
