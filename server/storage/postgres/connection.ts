import { SQL } from 'bun';
import type { Value } from '../engine.ts';
import { citusSettings } from './citus.ts';
import { ConnectionLost, isRefusal, stateOf } from './errors.ts';
import { checkServer, serviceSettings } from './settings.ts';

/**
 * A connection to the database that opens on first use and reopens after a failure.
 *
 *   closed -> connecting -> open -> lost (session error or deadline) -> closed
 *
 * The statements of one call are pipelined. No statement is ever canceled, because a canceled
 * COMMIT can report success. If a statement exceeds its deadline, the connection is dropped
 * instead.
 */
export type Connection = {
  /** Returns the open session, or opens a new one. */
  session(): Promise<Session>;
  run(statements: readonly Statement[], deadlineMs?: number): Promise<Row[][]>;
  isOpen(): boolean;
  /** The time since the oldest unanswered statement or connection attempt began, in ms, or 0. */
  silentMs(): number;
  close(): void;
};

/** A database session. A transaction stays in one session and fails if that session is lost. */
export type Session = {
  readonly hasCitus: boolean;
  /** Runs the statements and returns the outcome of each, in order. */
  settle(statements: readonly Statement[], deadlineMs?: number): Promise<Outcome[]>;
  run(statements: readonly Statement[], deadlineMs?: number): Promise<Row[][]>;
  /** Ends the session immediately, without waiting for running statements. */
  end(): void;
};

export type Row = Record<string, unknown>;

/** A script consists of several statements without values. It is not pipelined. */
export type Statement = { text: string; values: readonly Value[]; isScript?: true };

/**
 * `command` is the command tag, which is ROLLBACK for the COMMIT of a failed transaction. `count`
 * is the number of changed rows.
 */
export type Outcome = { rows: Row[]; command: string; count: number } | { error: unknown };

export function statement(text: string, values: readonly Value[] = []): Statement {
  return { text, values };
}

export async function query<Found = Row>(
  connection: Pick<Connection, 'run'>,
  text: string,
  values: readonly Value[] = [],
): Promise<Found[]> {
  const [rows = []] = await connection.run([statement(text, values)]);
  return rows as Found[];
}

export type ConnectionOptions = {
  url: string;
  /** The purpose of the connection, shown in pg_stat_activity. */
  purpose: string;
  settings?: Record<string, string>;
};

/** If the database does not respond within this time, it is considered unreachable. */
const defaultDeadlineMs = 10_000;
const connectDeadlineSeconds = 3;
/** The time limit for connecting and the first query together. */
const openDeadlineMs = 4_000;
/** For this time after a failed attempt, calls fail immediately with the same error. */
const connectAgainAfterMs = 200;

type Open = Session & Pick<Connection, 'silentMs'>;

export function createConnection(options: ConnectionOptions): Connection {
  let opening: Promise<Open> | null = null;
  let openingSince = 0; // mutate-ignore constant: set before it is read
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
    isOpen: () => open !== null,
    silentMs() {
      if (opening === null) return 0; // mutate-ignore constant: far below every limit
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

/** Opens a session. `lost` is called when the session ends or cannot be opened. */
async function openSession(options: ConnectionOptions, lost: () => void): Promise<Open> {
  const pool = createPool(options, lost);
  const late = Promise.withResolvers<never>();
  using _deadline = setTimeout(() => {
    late.reject(new ConnectionLost('the server is not responding to new connections'));
  }, openDeadlineMs);
  try {
    return await Promise.race([openChecked(pool, lost), late.promise]);
  } catch (error) {
    lost();
    endPool(pool);
    throw asLost(error);
  }
}

async function openChecked(pool: SQL, lost: () => void): Promise<Open> {
  const reserved = await pool.reserve();
  const { hasCitus } = await checkServer(reserved);
  return { hasCitus, ...createSession(pool, reserved, lost) };
}

function createSession(
  pool: SQL,
  reserved: Bun.ReservedSQL,
  lost: () => void,
): Omit<Open, 'hasCitus'> {
  const unanswered = new Set<{ sentAt: number }>();

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
    run: async (statements, deadlineMs) => rowsOf(await settle(statements, deadlineMs)),
    silentMs() {
      const [oldest] = unanswered;
      return oldest === undefined ? 0 : performance.now() - oldest.sentAt;
    },
    end,
  };
}

/**
 * Bun's client does not pipeline a statement without values, unless the statement is a tagged
 * template. Without pipelining, BEGIN and COMMIT would need separate round trips.
 */
function queryOf(session: Bun.ReservedSQL, { text, values, isScript }: Statement) {
  // mutate-ignore boundary: affects only speed
  if (values.length > 0 || isScript) return session.unsafe(text, values.map(asText));
  const template = Object.defineProperty<readonly string[]>([text], 'raw', { value: [text] });
  return session(template as TemplateStringsArray);
}

/**
 * Sends every value as text, so that a statement is not prepared again for values of other types.
 */
function asText(value: Value): string | null {
  if (value === null) return null;
  return value instanceof Uint8Array ? `\\x${value.toHex()}` : String(value);
}

type Result = Row[] & { command?: string | null; count?: number | null };

function outcomeOf(settled: PromiseSettledResult<Result>): Outcome {
  if (settled.status === 'rejected') return { error: asLost(settled.reason) };
  const { command, count } = settled.value;
  for (const row of settled.value) useNumbers(row);
  return { rows: settled.value, command: command ?? '', count: count ?? 0 };
}

/** All stored integers are exact as numbers: they are less than 2^53. */
function useNumbers(row: Row): void {
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'bigint') row[name] = Number(value);
  }
}

/** Returns the rows of each statement. Throws the first error. */
export function rowsOf(outcomes: readonly Outcome[]): Row[][] {
  return outcomes.map((outcome) => {
    if ('error' in outcome) throw outcome.error;
    return outcome.rows;
  });
}

/** Converts the error to ConnectionLost, unless the server sent the error. */
function asLost(error: unknown): unknown {
  if (stateOf(error) !== '' || error instanceof ConnectionLost) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ConnectionLost(message, { cause: error });
}

function createPool({ url, purpose, settings }: ConnectionOptions, onclose: () => void): SQL {
  return new SQL({
    url,
    // Set explicitly, because PGDATABASE in the environment would override the URL.
    database: decodeURIComponent(new URL(url).pathname.slice(1)) || 'postgres',
    max: 1,
    // Otherwise, the client returns integers as text, which cannot be told from other text.
    bigint: true,
    connectionTimeout: connectDeadlineSeconds,
    onclose,
    connection: {
      application_name: `memory ${purpose}`,
      ...serviceSettings,
      ...settings,
      ...citusSettings,
    },
  });
}

/** Closes the pool without waiting, because `close` may never resolve if the server hangs. */
function endPool(pool: SQL): void {
  // mutate-ignore constant: nothing waits for it
  pool.close({ timeout: 0 }).catch(() => {});
}
