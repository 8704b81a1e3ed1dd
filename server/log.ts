/**
 * Only the fields of LogFields are logged, and never an API key, a request or response body, a
 * memory's text or an idempotency key. Errors are logged with their stack traces, so error messages
 * must not contain any of these either.
 */

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

type LogFields = {
  requestId?: string;
  /** The W3C trace context that the client sent. */
  traceparent?: string | undefined;
  /** The IP address of the client. */
  address?: string | undefined;
  method?: string;
  route?: string;
  status?: number;
  durationMs?: number;
  project?: string | undefined;
  keyLastFour?: string | undefined;
  memoryId?: string;
  /** How many similar lines were suppressed before this one. */
  suppressed?: number | undefined;
  url?: string;
  error?: unknown;
};

export type LogEntry = {
  /** Milliseconds since 1970. */
  at: number;
  level: LogLevel;
  message: string;
  fields: LogFields;
};

export type LogSink = { write(entry: LogEntry): void; flush(): void };

/** A function of costly fields is called only if they are logged. */
type Fields = LogFields | (() => LogFields);

export type Logger = Record<
  'debug' | 'info' | 'warn' | 'error',
  (message: string, fields?: Fields) => void
>;

export function createLogger(level: LogLevel, write: (entry: LogEntry) => void): Logger {
  const minLevel = logLevels.indexOf(level);
  function logAt(name: Exclude<LogLevel, 'silent'>) {
    if (logLevels.indexOf(name) < minLevel) return () => {};
    return (message: string, fields: Fields = {}) => {
      const found = typeof fields === 'function' ? fields() : fields;
      write({ at: Date.now(), level: name, message, fields: found });
    };
  }
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

/** Formats an error with its stack trace and its causes, innermost last. */
function describe(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return `a value of type ${typeof error} was thrown`;
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by ${describe(error.cause)}`;
}

/** Returns the entry for a message to another thread: with its error as text. */
export function asData(entry: LogEntry): LogEntry {
  const { error } = entry.fields;
  if (!(error instanceof Error)) return entry;
  return { ...entry, fields: { ...entry.fields, error: describe(error) } };
}

export function jsonLine({ at, level, message, fields }: LogEntry): string {
  const error = describe(fields.error);
  return JSON.stringify({ time: timeOf(at), level, message, ...fields, error });
}

export function prettyLine({ at, level, message, fields }: LogEntry): string {
  const { method, route, status, durationMs, error, ...others } = fields;
  const time = timeOf(at).slice(11, 19);
  const known = Object.entries(others).filter(([, value]) => value !== undefined);
  const line = [
    ...(level === 'info' ? [time] : [time, level]),
    ...(method === undefined ? [message] : [method, route, status, `${durationMs} ms`]),
    ...known.map(([name, value]) => `${name}=${value}`),
  ].join(' ');
  return error === undefined ? line : `${line}\n${describe(error)}`;
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** How long entries are buffered, to batch the writes of a busy server. */
const bufferMs = 50;
/** The maximum length of output that stderr has not accepted yet, in UTF-16 units. */
const maxUnreadBytes = 1024 * 1024;

/** Without a listener, an error on stderr would terminate the process. */
function ignoreError(): void {}

/**
 * Formats entries and writes them to stderr in batches, outside of request handling. If no program
 * reads stderr, or stderr is a file on a full disk, entries are dropped and counted.
 */
export function stderrSink(render: (entry: LogEntry) => string): LogSink {
  let buffered: LogEntry[] = [];
  let unread = 0;
  let dropped = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Call off() first, so that all sinks share one listener.
  process.stderr.off('error', ignoreError).on('error', ignoreError);
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const entries = buffered;
    buffered = [];
    if (unread > maxUnreadBytes) {
      dropped += entries.length;
      return;
    }
    if (dropped > 0) {
      const message = `${dropped} log lines were dropped because stderr did not accept them`;
      entries.unshift({ at: Date.now(), level: 'warn', message, fields: {} });
    }
    dropped = 0;
    if (entries.length === 0) return;
    const text = `${entries.map(render).join('\n')}\n`;
    const [lines, length] = [entries.length, text.length];
    // Counts the unwritten output, because Bun's `writableLength` of stderr is always 0.
    unread += length;
    process.stderr.write(text, (error) => {
      unread -= length;
      if (error) dropped += lines;
    });
  }
  return {
    flush,
    write(entry) {
      buffered.push(entry);
      timer ??= setTimeout(flush, bufferMs);
    },
  };
}
