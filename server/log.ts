/*
 * What is written is an allow-list of named fields: never a key, a body, a memory's text or an
 * idempotency key. Errors are written with their stack, which is why no error of ours carries any
 * of these in its message.
 */

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type LogFields = {
  requestId?: string;
  method?: string;
  route?: string;
  status?: number;
  durationMs?: number;
  project?: string | undefined;
  keyLastFour?: string | undefined;
  memoryId?: string;
  url?: string;
  error?: unknown;
};

/** `at` is in ms since 1970. */
export type LogEntry = { at: number; level: LogLevel; message: string; fields: LogFields };

/** An entry as it is written. */
export type LogLine = Omit<LogFields, 'error'> & {
  time: string;
  level: LogLevel;
  message: string;
  error?: string | undefined;
};

export type Logger = Record<
  'debug' | 'info' | 'warn' | 'error',
  (message: string, fields?: LogFields) => void
>;

export function createLogger(level: LogLevel, write: (entry: LogEntry) => void): Logger {
  const least = logLevels.indexOf(level);
  function at(name: Exclude<LogLevel, 'silent'>) {
    if (logLevels.indexOf(name) < least) return () => {};
    return (message: string, fields: LogFields = {}) => {
      write({ at: Date.now(), level: name, message, fields });
    };
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function lineOf({ at, level, message, fields }: LogEntry): LogLine {
  const time = new Date(at).toISOString();
  const error = fields.error === undefined ? undefined : describe(fields.error);
  return { time, level, message, ...fields, error };
}

/** With the causes, innermost last: a refusal of ours is kind, and its cause is what happened. */
function describe(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return `thrown: ${typeof error}`;
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by ${describe(error.cause)}`;
}

/** One JSON object a line, for machines. */
export function jsonLine(entry: LogEntry): string {
  return JSON.stringify(lineOf(entry));
}

/** For a person at a terminal: the same, shorter. */
export function prettyLine(entry: LogEntry): string {
  const { time, level, message, error, ...fields } = lineOf(entry);
  const { method, route, status, durationMs, ...others } = fields;
  const head = `${time.slice(11, 19)} ${level === 'info' ? '' : `${level} `}`;
  const known = Object.entries(others).filter(([, value]) => value !== undefined);
  const tail = known.map(([name, value]) => `${name}=${value}`);
  const request = method === undefined ? [] : [method, route, status, `${durationMs} ms`];
  const line = [head + (method === undefined ? message : ''), ...request, ...tail].join(' ');
  return error === undefined ? line : `${line}\n${error}`;
}

/** How long entries are held back, so that a busy server writes many at a time. */
const heldMs = 50;

export type Lines = { write(entry: LogEntry): void; flush(): void };

/**
 * Sends lines to stderr, many at a time; `flush` writes what is held. They are made then, too: a
 * client does not wait for the line about its request.
 */
export function stderrLines(render: (entry: LogEntry) => string): Lines {
  let held: LogEntry[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (held.length > 0) process.stderr.write(`${held.map(render).join('\n')}\n`);
    held = [];
  }
  return {
    flush,
    write(entry) {
      held.push(entry);
      timer ??= setTimeout(flush, heldMs);
    },
  };
}
