import type { Dialect, Tx, Value } from '../engine.ts';
import { isTaskOf } from '../operations/columns.ts';
import { citusDialect } from './citus.ts';
import {
  type Connection,
  type Outcome,
  rowsOf,
  type Session,
  type Statement,
  statement,
} from './connection.ts';

/** The parameter has no effect, but PostgreSQL must be able to find out its type. */
const unused = (parameter: string) => `CAST(${parameter} AS text) IS NULL`;

const milliseconds = 'CAST(extract(epoch FROM statement_timestamp()) * 1000 AS bigint)';

export const dialect: Dialect = {
  contains: (text, part) => `position(${part} IN ${text}) > 0`,
  // A server does not know which other servers are running. It waits until their leases end.
  hasOtherOwner: unused,
  sharedClock: (now) => `(${milliseconds} + 0 * CAST(${now} AS bigint))`,
  lockIds: null,
  memoriesById: '',
  // With a join, a plan for one memory and no tasks would read all of the user's tasks for each
  // memory. The second condition for the user shows a distributed database where the tasks are.
  memoriesWithTasks: (userId) => `memories AS m LEFT JOIN LATERAL
    (SELECT * FROM tasks AS t WHERE ${isTaskOf} AND t.user_id = ${userId} OFFSET 0) AS t ON true`,
  forShare: 'FOR SHARE',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  uptime: 'service_uptime()',
  oldestKeys: ({ known, old, limit }) =>
    `SELECT project_id, scope, key FROM idempotency_keys WHERE ${known} AND ${old}
     ORDER BY stored_uptime, created_at LIMIT ${limit}`,
};

export type Send = (statement: Statement) => Promise<Outcome>;

export function isRead(text: string): boolean {
  return /^\s*(SELECT|WITH)\b/.test(text);
}

/** PostgreSQL stores no NUL, and accepts none. Only a client's text, such as an id, contains it. */
function hasNul(value: Value): boolean {
  return typeof value === 'string' && value.includes('\0');
}

export function createTx(send: Send, hasCitus = false): Tx {
  async function rows<Row>(one: Statement): Promise<Row[]> {
    if (isRead(one.text) && one.values.some(hasNul)) return [];
    const [found = []] = rowsOf([await send(one)]);
    return found as Row[];
  }

  return {
    dialect: hasCitus ? { ...dialect, ...citusDialect } : dialect,
    all: (text, values) => rows(statement(text, values)),
    async one<Row>(text: string, values?: Statement['values']) {
      const [first] = await rows<Row>(statement(text, values));
      return first;
    },
    async run(text, values) {
      const outcome = await send(statement(text, values));
      if ('error' in outcome) throw outcome.error;
      return outcome.count;
    },
  };
}

/** Runs each statement on its own, in the order in which they are sent. */
export function createShortTx(connection: Connection): Tx {
  return createTx(async (one) => {
    const session = await connection.session();
    const [outcome] = await session.settle([one]);
    return outcome ?? { error: new Error('the statement has no outcome') };
  });
}

const begin = statement('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
const end = statement('COMMIT');
/** Long enough for a response with many megabytes of text. */
const deadlineMs = 30_000;

export async function inSnapshot<T>(session: Session, read: (tx: Tx) => Promise<T>): Promise<T> {
  let isBegun = false;
  const tx = createTx(async (one) => {
    const opening = isBegun ? [] : [begin];
    isBegun = true;
    const outcomes = await session.settle([...opening, one], deadlineMs);
    rowsOf(outcomes.slice(0, opening.length));
    return outcomes.at(-1) ?? { error: new Error('the statement has no outcome') };
  });
  try {
    return await read(tx);
  } finally {
    // Do not wait for COMMIT. Nothing depends on the result, and the next read is queued behind it.
    if (isBegun) session.settle([end]).catch(() => {});
  }
}
