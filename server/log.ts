/*
 * What is written is an allow-list of named fields: never a key, a body, a memory's text or an
 * idempotency key. Errors are written with their stack, which is why no error of ours carries any
 * of these in its message.
 */

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type LogFields = {
  requestId?: string;
  /** The W3C trace context that the client sent. */
  traceparent?: string | undefined;
  method?: string;
  route?: string;
  status?: number;
  durationMs?: number;
  project?: string | undefined;
  keyLastFour?: string | undefined;
  memoryId?: string;
  /** How many lines like this one were left out before it. */
  suppressed?: number | undefined;
  url?: string;
  error?: unknown;
};

export type LogEntry = {
  /** In ms since 1970. */
  at: number;
  level: LogLevel;
  message: string;
  fields: LogFields;
};

/** Where entries go; `flush` writes what is held back. */
export type LogSink = { write(entry: LogEntry): void; flush(): void };

export type Logger = Record<
  'debug' | 'info' | 'warn' | 'error',
  (message: string, fields?: LogFields) => void
>;

export function createLogger(level: LogLevel, write: (entry: LogEntry) => void): Logger {
  const least = logLevels.indexOf(level);
  function logAt(name: Exclude<LogLevel, 'silent'>) {
    if (logLevels.indexOf(name) < least) return () => {};
    return (message: string, fields: LogFields = {}) => {
      write({ at: Date.now(), level: name, message, fields });
    };
  }
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

/** With the causes, innermost last: a refusal of ours is kind, and its cause is what happened. */
function describe(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return `thrown: ${typeof error}`;
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by ${describe(error.cause)}`;
}

/** One JSON object a line, for machines. */
export function jsonLine({ at, level, message, fields }: LogEntry): string {
  const error = describe(fields.error);
  return JSON.stringify({ time: timeOf(at), level, message, ...fields, error });
}

/** For a person at a terminal: the same, shorter. */
export function prettyLine({ at, level, message, fields }: LogEntry): string {
  const { method, route, status, durationMs, error, ...others } = fields;
  const head = `${timeOf(at).slice(11, 19)} ${level === 'info' ? '' : `${level} `}`;
  const known = Object.entries(others).filter(([, value]) => value !== undefined);
  const tail = known.map(([name, value]) => `${name}=${value}`);
  const request = method === undefined ? [] : [method, route, status, `${durationMs} ms`];
  const line = [head + (method === undefined ? message : ''), ...request, ...tail].join(' ');
  return error === undefined ? line : `${line}\n${describe(error)}`;
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** How long entries are held back, so that a busy server writes many at a time. */
const heldMs = 50;
/** What may wait for a reader that does not read, in UTF-16 units. */
const mostUnread = 1024 * 1024;

/** Of a stderr that fails. Without somebody who listens, the process would end by it. */
function passOver(): void {}

/**
 * Writes entries to stderr, many at a time. They are rendered then, too, and not while the client
 * of the request that they tell of waits. Where nobody reads stderr, or its disk is full, entries
 * are dropped and the service goes on.
 */
export function stderrSink(render: (entry: LogEntry) => string): LogSink {
  let held: LogEntry[] = [];
  let unread = 0;
  let dropped = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Once for all sinks of a process.
  process.stderr.off('error', passOver).on('error', passOver);
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const entries = held;
    held = [];
    if (unread > mostUnread) {
      dropped += entries.length;
      return;
    }
    if (dropped > 0) entries.unshift(droppedEntry(dropped));
    dropped = 0;
    if (entries.length === 0) return;
    const text = `${entries.map(render).join('\n')}\n`;
    const [lines, length] = [entries.length, text.length];
    // Counted here: Bun's `writableLength` of stderr is always 0.
    unread += length;
    process.stderr.write(text, (error) => {
      unread -= length;
      if (error) dropped += lines;
    });
  }
  return {
    flush,
    write(entry) {
      held.push(entry);
      timer ??= setTimeout(flush, heldMs);
    },
  };
}

function droppedEntry(count: number): LogEntry {
  const message = `${count} lines were dropped before this one: the log was not taken`;
  return { at: Date.now(), level: 'warn', message, fields: {} };
}
