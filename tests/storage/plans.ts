import { query, type TestDatabase } from '../support/postgres.ts';
import type { SentStatement } from '../support/statement-recorder.ts';

/*
 * Counts the parts of the tables that a statement touches according to its query plan. The parts
 * are Citus shards, or partitions if the tables are partitioned by user.
 */

export const parts = 4;

const columns = {
  users: 'user_id',
  memories: 'user_id',
  tasks: 'user_id',
  vectors: 'user_id',
  snapshots: 'user_id',
  vector_parts: 'user_id',
  idempotency_keys: 'key',
};

export async function hasCitus({ url }: TestDatabase): Promise<boolean> {
  const rows = await query(url, `SELECT 1 FROM pg_extension WHERE extname = 'citus'`);
  return rows.length > 0;
}

/** Replaces the empty tables with partitioned tables that have the same columns and indexes. */
export async function cutByUser({ url }: TestDatabase): Promise<void> {
  await query(url, 'ALTER TABLE memories DROP CONSTRAINT memories_pkey');
  await query(url, 'ALTER TABLE memories ADD PRIMARY KEY (project_id, id, user_id)');
  for (const [table, column] of Object.entries(columns)) {
    await query(url, `ALTER TABLE ${table} RENAME TO whole_${table}`);
    const like = `LIKE whole_${table} INCLUDING ALL`;
    await query(url, `CREATE TABLE ${table} (${like}) PARTITION BY HASH (${column})`);
    await query(url, `DROP TABLE whole_${table}`);
    for (let part = 0; part < parts; part += 1) {
      const values = `WITH (MODULUS ${parts}, REMAINDER ${part})`;
      const name = `${table}_part_${part}`;
      await query(url, `CREATE TABLE ${name} PARTITION OF ${table} FOR VALUES ${values}`);
    }
  }
}

type Plan = Record<string, unknown>;

/** Returns the number of parts that the statement would touch, without running it. */
export async function partsOf({ url }: TestDatabase, sent: SentStatement): Promise<number> {
  const rows = await query(url, `EXPLAIN (FORMAT JSON) ${sent.text}`, sent.values);
  const plans = Object.values(rows[0] ?? {}) as unknown[];
  const seen = { tasks: [0], parts: new Set<string>() };
  collect(typeof plans[0] === 'string' ? JSON.parse(plans[0]) : plans[0], seen);
  return Math.max(...seen.tasks, seen.parts.size);
}

function collect(value: unknown, seen: { tasks: number[]; parts: Set<string> }): void {
  if (value === null || typeof value !== 'object') return;
  const { 'Task Count': tasks, 'Relation Name': relation } = value as Plan;
  if (typeof tasks === 'number') seen.tasks.push(tasks);
  const [, part] = /_part_(\d+)$/.exec(String(relation)) ?? [];
  if (part !== undefined) seen.parts.add(part);
  for (const inner of Object.values(value)) collect(inner, seen);
}

/** Returns whether the statement reads or writes tables. */
export function isPlanned({ text }: SentStatement): boolean {
  return (
    /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|DECLARE)\b/.test(text) && /\bFROM|INTO|UPDATE/.test(text)
  );
}

/**
 * Whether Citus rejects the statement, or changes its meaning. In a write that asks for the time,
 * it turns `CASE column WHEN value` into `CASE column WHEN NULL`.
 */
export function isMisread({ text }: SentStatement): boolean {
  const asksForTime = /statement_timestamp/.test(text);
  const isWrite = /^\s*(INSERT|UPDATE|DELETE)\b/.test(text);
  return asksForTime && isWrite && /CASE\s+(?!WHEN)|CASE((?!END).)*statement_timestamp/s.test(text);
}

export function oneLine({ text }: SentStatement): string {
  return text.replace(/\s+/g, ' ').trim();
}
