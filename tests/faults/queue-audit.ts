import { Database } from 'bun:sqlite';
import type { Violations } from './harness.ts';

/** What must have become of a record. */
export type Owed = { text: string; fate: 'complete' | 'failed' };

type Row = {
  id: string;
  content: string;
  state: string;
  attempts: number;
  complete: number;
  total: number;
  passages: number;
  covered: number;
};

/** Looks into the file of a server that has stopped: each record's end, and that its result is
 * there once and belongs to its text. */
export function auditQueue(path: string, owed: Map<string, Owed>, violations: Violations) {
  const rows = new Map(readRows(path).map((row) => [row.id, row]));
  const found = { complete: 0, failed: 0, stuck: 0, lost: 0, wrongResult: 0, innocentFailed: 0 };
  for (const [id, { text, fate }] of owed) {
    const row = rows.get(id);
    if (row === undefined || row.content !== text) {
      found.lost += 1;
      violations.add(`lost: ${id}`);
    } else if (row.state !== 'complete' && row.state !== 'failed') {
      found.stuck += 1;
      violations.add(`stuck: ${id} is ${row.state}`);
    } else {
      found[row.state] += 1;
      if (row.state === 'failed' && fate === 'complete') found.innocentFailed += 1;
      if (row.state === 'complete' && !isWhole(row, fate)) {
        found.wrongResult += 1;
        violations.add(`wrong result: ${JSON.stringify({ ...row, content: undefined })}`);
      }
    }
  }
  const strangers = rows.size - owed.size + found.lost;
  if (strangers > 0) violations.add(`${strangers} records are there that nobody sent`);
  return { ...found, strangers };
}

/** The passages cover the text, all of it and once. */
function isWhole({ content, complete, total, passages, covered }: Row, fate: string): boolean {
  if (fate === 'failed') return false;
  return covered === content.length && complete === total && passages === total;
}

function readRows(path: string): Row[] {
  const db = new Database(path, { readonly: true });
  try {
    return db
      .prepare<Row, []>(
        `SELECT m.id, m.content, j.state, j.attempts, j.chunks_complete AS complete,
           j.chunks_total AS total, count(p.ordinal) AS passages,
           ifnull(sum(p.length), 0) AS covered
         FROM memories AS m
         JOIN jobs AS j ON j.project_id = m.project_id AND j.memory_seq = m.seq
         LEFT JOIN passages AS p ON p.project_id = m.project_id AND p.user_id = m.user_id
           AND p.memory_seq = m.seq
         GROUP BY m.seq`,
      )
      .all();
  } finally {
    db.close();
  }
}
