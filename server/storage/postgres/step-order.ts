import type { Value } from '../engine.ts';

/*
 * The order in which the statements of writes that run in step are sent. All transactions lock rows
 * in this order, so that they do not deadlock: the rows of users, then other rows, then idempotency
 * keys; sorted by their keys within a table.
 */

type Ordered = { text: string; values: readonly Value[] };

/** The ranks of the statements that must wait until the other writes are as far. */
const reading = 0;
const lockingUsers = 1;
const storingKeys = 2;

function rankOf(text: string): number {
  if (/^\s*(INSERT INTO|UPDATE) users\b/.test(text)) return lockingUsers;
  return /^\s*INSERT INTO idempotency_keys\b/.test(text) ? storingKeys : reading;
}

/** Returns which of the waiting statements are sent next, sorted, and which wait longer. */
export function nextInStep<Call extends Ordered>(waiting: readonly Call[]): [Call[], Call[]] {
  const ranked = Map.groupBy(waiting, ({ text }) => rankOf(text));
  const first = Math.min(...ranked.keys());
  const next = ranked.get(first) ?? [];
  ranked.delete(first);
  return [next.sort(compare), [...ranked.values()].flat()];
}

function compare(a: Ordered, b: Ordered): number {
  if (a.text !== b.text) return a.text < b.text ? -1 : 1;
  for (const [index, value] of a.values.entries()) {
    const other = b.values[index] ?? null;
    if (value === other) continue;
    // mutate-ignore constant: only the sign matters
    // mutate-ignore boundary: the values differ
    return value === null || (other !== null && value < other) ? -1 : 1;
  }
  return 0;
}
