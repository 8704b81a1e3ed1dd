/*
 * One JSON object a line. What is written is an allow-list of named fields: never a key, a body, a
 * memory's text or an idempotency key. Errors are written with their stack, which is why no error
 * of ours may carry any of these in its message.
 */

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type LogFields = {
  requestId?: string;
  method?: string;
  route?: string;
  status?: number;
  durationMs?: number;
  project?: string;
  keyLastFour?: string;
  memoryId?: string;
  count?: number;
  url?: string;
  error?: unknown;
};

export type Logger = Record<
  'debug' | 'info' | 'warn' | 'error',
  (message: string, fields?: LogFields) => void
>;

/** `write` gets one line, without its line feed. */
export function createLogger(level: LogLevel, write: (line: string) => void): Logger {
  const least = logLevels.indexOf(level);
  function at(name: Exclude<LogLevel, 'silent'>) {
    if (logLevels.indexOf(name) < least) return () => {};
    return (message: string, { error, ...fields }: LogFields = {}) => {
      const time = new Date().toISOString();
      const cause = error === undefined ? {} : { error: describe(error) };
      write(JSON.stringify({ time, level: name, message, ...fields, ...cause }));
    };
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : `thrown: ${typeof error}`;
}
