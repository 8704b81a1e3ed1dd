import type { Database, Statement } from 'bun:sqlite';
import { reportProgress } from '../../threads/serve.ts';
import {
  type Dialect,
  runWhole,
  type Tx,
  type Value,
  type WriteOperation,
  type WriteTx,
} from '../engine.ts';
import { memoriesWithTasks } from '../operations/columns.ts';
import { QueueLimit } from '../queue-limit.ts';
import { notStored } from './errors.ts';

const dialect: Dialect = {
  contains: (text, part) => `instr(${text}, ${part}) > 0`,
  sharedClock: (now) => `CAST(${now} AS bigint)`,
  hasOtherOwner: (owner) => `lease_owner IS NOT ${owner}`,
  lockIds: null,
  memoriesById: 'INDEXED BY memories_by_id',
  memoriesWithTasks: () => memoriesWithTasks,
  forShare: '',
  skipLocked: '',
  uptime: `(SELECT value FROM maintenance WHERE name = 'uptime')`,
  oldestKeys,
};

/**
 * No index has the keys' ages, but rowids follow the uptime. So the search ends at the first key
 * that is not old, or after `limit` keys.
 */
function oldestKeys({ known, old, limit }: Parameters<Dialect['oldestKeys']>[0]): string {
  const inOrder = (condition: string) =>
    `FROM idempotency_keys WHERE ${known} AND ${condition} ORDER BY rowid LIMIT ${limit}`;
  const firstYoung = `SELECT rowid FROM (SELECT rowid, ${old} AS old ${inOrder('true')})
    WHERE NOT old LIMIT 1`;
  const isBefore = `rowid < coalesce((${firstYoung}), ${Number.MAX_SAFE_INTEGER})`;
  return `SELECT project_id, scope, key ${inOrder(`${old} AND ${isBefore}`)}`;
}

/**
 * Runs the statements of operations on a connection, at once and in order. After some disk errors,
 * SQLite has rolled back the transaction of a write. It would then commit each of the statements
 * that are still to come by itself, so that these must fail.
 */
export function createTx(db: Database, { isWriting = false } = {}): Tx {
  const statements = new Map<string, Statement<unknown, Value[]>>();

  function prepared(text: string): Statement<unknown, Value[]> {
    reportProgress();
    if (isWriting && !db.inTransaction) throw new Error('the transaction was rolled back');
    const known = statements.get(text);
    if (known !== undefined) return known;
    const statement = db.prepare<unknown, Value[]>(text.replaceAll('$', '?'));
    statements.set(text, statement);
    return statement;
  }

  return {
    dialect,
    all: async <Row>(text: string, values: readonly Value[] = []) =>
      prepared(text).all(...values) as Row[],
    one: async <Row>(text: string, values: readonly Value[] = []) =>
      (prepared(text).get(...values) ?? undefined) as Row | undefined,
    run: async (text, values = []) => prepared(text).run(...values).changes,
  };
}

type Alone = <Input, Result>(
  operation: WriteOperation<Input, Result>,
  input: Input,
) => Promise<Result>;

/** Runs writes without the writer thread, each in one transaction. */
export function createAlone(
  db: Database,
  noteRemoved: (what: 'memory' | 'user') => void = () => {},
): Alone {
  const tx: WriteTx = {
    // mutate-ignore boolean: an error ends the write of a key, and a failed copy is deleted
    ...createTx(db, { isWriting: true }),
    noteRemoved: async (what) => noteRemoved(what),
    queueLimit: new QueueLimit(),
  };
  return async (operation, input) => {
    try {
      db.run('BEGIN IMMEDIATE');
      const result = await runWhole(tx, operation, input);
      db.run('COMMIT');
      return result;
    } catch (error) {
      if (db.inTransaction) db.run('ROLLBACK');
      throw notStored(error);
    }
  };
}
