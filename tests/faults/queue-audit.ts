import { Database } from 'bun:sqlite';
import { chunksOf } from '../../server/memory/chunks.ts';
import type { Violations } from './harness.ts';

/** The expected text and final state of a record. */
export type Owed = { text: string; fate: 'complete' | 'failed' };

type Row = {
  id: string;
  content: string;
  metadata: string;
  state: string;
  attempts: number;
  complete: number;
  total: number;
};

/**
 * Reads the database of a stopped server. Checks that each record has the expected text and final
 * state, and that all chunks of each text are complete.
 */
export function auditQueue(path: string, owed: Map<string, Owed>, violations: Violations) {
  const rows = new Map(readRows(path).map((row) => [row.id, row]));
  const found = {
    complete: 0,
    failed: 0,
    stuck: 0,
    lost: 0,
    wrongResults: 0,
    validRecordsFailed: 0,
  };
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
      if (row.state === 'failed' && fate === 'complete') found.validRecordsFailed += 1;
      if (row.state === 'complete' && !isWhole(row, fate)) {
        found.wrongResults += 1;
        violations.add(`wrong result: ${JSON.stringify({ ...row, content: undefined })}`);
      }
    }
  }
  const strangers = rows.size - owed.size + found.lost;
  if (strangers > 0) violations.add(`${strangers} stored records were not sent by any client`);
  return { ...found, unexpectedRecords: strangers };
}

/** Whether the record was expected to complete and all chunks of its text are complete. */
function isWhole({ content, metadata, complete, total }: Row, fate: string): boolean {
  if (fate === 'failed') return false;
  return complete === total && total === chunksOf(content, metadata).length;
}

function readRows(path: string): Row[] {
  const db = new Database(path, { readonly: true });
  try {
    return db
      .prepare<Row, []>(
        `SELECT m.id, m.content, m.metadata, t.state, t.attempts, t.chunks_complete AS complete,
           t.chunks_total AS total
         FROM memories AS m
         JOIN tasks AS t ON t.project_id = m.project_id AND t.memory_id = m.id`,
      )
      .all();
  } finally {
    db.close();
  }
}
