import type { UserRecord } from '../../../sdk/contract/ingest.ts';
import type { Memory } from '../../../sdk/index.ts';
import { renderRecord } from '../../../server/memory/render.ts';

/** The expected number of memories for each combination of visible fields. */
export type Owed = { counts: Map<string, number>; add(record: UserRecord): void };

/** Computes the memories that must exist after the records have been ingested in order. */
export function createOwed(): Owed {
  const counts = new Map<string, number>();
  const shownByKey = new Map<string, string>();
  function change(shown: string, by: 1 | -1): void {
    const count = (counts.get(shown) ?? 0) + by;
    if (count === 0) counts.delete(shown);
    else counts.set(shown, count);
  }
  return {
    counts,
    add(record) {
      const shown = showOf(renderRecord(record, ''));
      change(shown, 1);
      if (record.externalId === undefined) return;
      // A later record with the same user, source and external id replaces the earlier one.
      const key = JSON.stringify([record.userId, record.source, record.externalId]);
      const before = shownByKey.get(key);
      if (before !== undefined) change(before, -1);
      shownByKey.set(key, shown);
    },
  };
}

type Shown = Pick<Memory, 'userId' | 'type' | 'content' | 'source' | 'externalId'>;

/** Returns a key that is the same for a record and for the memory created from it. */
export function showOf({ userId, type, content, source, externalId }: Shown): string {
  return JSON.stringify([userId, type, content, source, externalId]);
}
