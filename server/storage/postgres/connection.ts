import { SQL } from 'bun';
import { ConnectionLost, isRefusal, stateOf } from './errors.ts';
import type { Statement, Value } from './statement.ts';

/**
 * One connection to the database, opened on first use and again after it was lost.
 *
 *   closed -> connecting -> open -> lost (an error of the session, or a deadline) -> closed
 *
 * The statements of one call are pipelined. No statement is ever cancelled, because a cancelled
 * COMMIT can report success; past its deadline the connection itself is dropped.
 */
export type Connection = {
  /** The open session, or a new one. */
  session(): Promise<Session>;
  /** The rows of each statement, in the open session. Rejects with the first error. */
  run(statements: readonly Statement[], deadlineMs?: number): Promise<Row[][]>;
  /** The time since the oldest unanswered statement was sent, in ms; 0 if there is none. */
  silentMs(): number;
  close(): void;
};

/** A transaction stays in one session: once that is lost, everything sent to it fails. */
export type Session = {
  /** The outcome of each statement, in order. */
  settle(statements: readonly Statement[], deadlineMs?: number): Promise<Outcome[]>;
  run(statements: readonly Statement[], deadlineMs?: number): Promise<Row[][]>;
};

export type Row = Record<string, unknown>;

/** `command` is what the server did: the COMMIT of a failed transaction returns ROLLBACK. */
export type Outcome = { rows: Row[]; command: string } | { error: unknown };

export type ConnectionOptions = {
  url: string;
  /** What the connection is for, as pg_stat_activity shows it. */
  purpose: string;
};

/** A database that does not respond within this time counts as unreachable. */
const defaultDeadlineMs = 10_000;
const connectDeadlineSeconds = 3;
/** The limit for connecting and the first query together. */
const openDeadlineMs = 4_000;
/** Further callers fail at once with the same error during this time. */
const connectAgainAfterMs = 200;

type Open = Session & Pick<Connection, 'silentMs'> & { end(): void };

export function createConnection(options: ConnectionOptions): Connection {
  let opening: Promise<Open> | null = null;
  let openingSince = 0;
  let open: Open | null = null;
  let failed: { error: unknown; until: number } | null = null;
  let isClosed = false;

  function session(): Promise<Open> {
    if (isClosed) return Promise.reject(new ConnectionLost('the connection is closed'));
    if (opening !== null) return opening;
    if (failed !== null && performance.now() < failed.until) return Promise.reject(failed.error);
    const attempt = openSession(options, () => {
      if (opening === attempt) opening = open = null;
    });
    opening = attempt;
    openingSince = performance.now();
    attempt.then(
      (opened) => {
        if (opening === attempt) open = opened;
      },
      (error) => {
        failed = { error, until: performance.now() + connectAgainAfterMs };
      },
    );
    return attempt;
  }

  return {
    session,
    run: async (statements, deadlineMs) => (await session()).run(statements, deadlineMs),
    silentMs() {
      if (opening === null) return 0;
      return open?.silentMs() ?? performance.now() - openingSince;
    },
    close() {
      isClosed = true;
      opening?.then(
        (open) => open.end(),
        () => {},
      );
    },
  };
}

/** `lost` is called when the session has ended or could not be opened. */
async function openSession(options: ConnectionOptions, lost: () => void): Promise<Open> {
  const pool = createPool(options, lost);
  const late = Promise.withResolvers<never>();
  const deadline = setTimeout(() => {
    late.reject(new ConnectionLost('the server does not respond to a new connection'));
  }, openDeadlineMs);
  try {
    const reserved = await Promise.race([openChecked(pool), late.promise]);
    return createSession(pool, reserved, lost);
  } catch (error) {
    lost();
    endPool(pool);
    throw asLost(error);
  } finally {
    clearTimeout(deadline);
  }
}

async function openChecked(pool: SQL): Promise<Bun.ReservedSQL> {
  const reserved = await pool.reserve();
  await checkServer(reserved);
  return reserved;
}

function createSession(pool: SQL, reserved: Bun.ReservedSQL, lost: () => void): Open {
  /** The calls that wait for a response, oldest first. */
  const unanswered = new Set<{ sentAt: number }>();

  /** Immediately, without waiting for running statements. */
  function end(): void {
    lost();
    endPool(pool);
  }

  async function settle(
    statements: readonly Statement[],
    deadlineMs = defaultDeadlineMs,
  ): Promise<Outcome[]> {
    const deadline = setTimeout(end, deadlineMs);
    const call = { sentAt: performance.now() };
    unanswered.add(call);
    try {
      const sent = statements.map((one) => queryOf(reserved, one).execute());
      const outcomes = (await Promise.allSettled(sent)).map(outcomeOf);
      if (outcomes.some((one) => 'error' in one && !isRefusal(one.error))) end();
      return outcomes;
    } finally {
      clearTimeout(deadline);
      unanswered.delete(call);
    }
  }

  return {
    settle,
    async run(statements, deadlineMs) {
      const outcomes = await settle(statements, deadlineMs);
      return outcomes.map((outcome) => {
        if ('error' in outcome) throw outcome.error;
        return outcome.rows;
      });
    },
    silentMs() {
      const [oldest] = unanswered;
      return oldest === undefined ? 0 : performance.now() - oldest.sentAt;
    },
    end,
  };
}

/**
 * The client sends a text without values over a protocol that is not pipelined, unless it is a
 * template: BEGIN and COMMIT would be separate round trips.
 */
function queryOf(session: Bun.ReservedSQL, { text, values, isScript }: Statement) {
  if (values.length > 0 || isScript) return session.unsafe(text, values.map(asText));
  return session(Object.defineProperty([text], 'raw', { value: [text] }) as never);
}

/** Always as text: otherwise a statement is prepared again for each combination of types. */
function asText(value: Value): string | null {
  return value === null ? null : String(value);
}

function outcomeOf(settled: PromiseSettledResult<Row[] & { command?: string | null }>): Outcome {
  if (settled.status === 'rejected') return { error: asLost(settled.reason) };
  return { rows: settled.value, command: settled.value.command ?? '' };
}

/** An error that the server did not send is a connection error. */
function asLost(error: unknown): unknown {
  if (stateOf(error) !== '' || error instanceof ConnectionLost) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ConnectionLost(message, { cause: error });
}

function createPool({ url, purpose }: ConnectionOptions, onclose: () => void): SQL {
  return new SQL({
    url,
    // PGDATABASE in the environment would take precedence over the URL.
    database: databaseOf(url),
    max: 1,
    connectionTimeout: connectDeadlineSeconds,
    onclose,
    connection: {
      application_name: `memory ${purpose}`,
      lock_timeout: '5s',
      idle_in_transaction_session_timeout: '15s',
      client_min_messages: 'warning',
      // Otherwise Citus runs writes to several shards one at a time. PostgreSQL ignores the
      // setting.
      'citus.multi_shard_modify_mode': 'sequential',
    },
  });
}

function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || 'postgres';
}

/** A standby returns outdated data; a primary that commits asynchronously loses writes. */
async function checkServer(session: Bun.ReservedSQL): Promise<void> {
  const [server] = await session.unsafe(
    `SELECT pg_is_in_recovery() AS "isStandby", current_setting('synchronous_commit') AS "commit"`,
  );
  if (server?.isStandby === true) throw new ConnectionLost('the server is a standby');
  if (server?.commit === 'off') await session.unsafe('SET synchronous_commit = on');
}

/** It may never resolve if the server does not respond, and nothing depends on it. */
function endPool(pool: SQL): void {
  pool.close({ timeout: 0 }).catch(() => {});
}
