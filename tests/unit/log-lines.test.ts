import { expect, test } from 'bun:test';
import { type LogEntry, prettyLine, stderrSink } from '../../server/log.ts';

/* Log lines in the terminal format. tests/http/log.test.ts covers the JSON format. */

const at = Date.UTC(2026, 10, 22, 9, 5, 3, 42);

function pretty(entry: Partial<LogEntry>): string {
  return prettyLine({ at, level: 'info', message: 'listening', fields: {}, ...entry });
}

const fields = { url: 'http://127.0.0.1:7070', project: undefined };
const request = { method: 'GET', route: '/v1', status: 200, durationMs: 3, requestId: 'req_1' };
test.each<[name: string, entry: Partial<LogEntry>, line: string]>([
  ['the fields that are set', { fields }, 'listening url=http://127.0.0.1:7070'],
  ['its level', { level: 'warn' }, 'warn listening'],
  ['no level if it is info', {}, 'listening'],
  ['a request', { message: 'request', fields: request }, 'GET /v1 200 3 ms requestId=req_1'],
])('a line has the time, and %s', (_, entry, line) => {
  expect(pretty(entry)).toBe(`09:05:03 ${line}`);
});

test('an error follows its line, with its stack and its causes', () => {
  const cause = new Error('the disk is full');
  const error = new Error('could not write', { cause });
  const [first, ...more] = pretty({ level: 'error', fields: { error } }).split('\n');
  expect(first).toBe('09:05:03 error listening');
  expect(more[0]).toBe('Error: could not write');
  expect(more).toContain('caused by Error: the disk is full');
  expect(more.join('\n')).toContain('log-lines.test.ts');
  expect(pretty({ fields: { error: 'a text' } })).toBe('09:05:03 listening\na text');
});

test('the log states once how many lines stderr rejected', () => {
  const { write } = process.stderr;
  const written: string[] = [];
  let fault: Error | undefined = new Error('the disk is full');
  process.stderr.write = ((text: string, done: (error?: Error) => void) => {
    written.push(text);
    done(fault);
    return true;
  }) as never;
  try {
    const sink = stderrSink(({ message }) => message);
    for (const message of ['lost', 'next', 'last']) {
      sink.write({ at, level: 'info', message, fields: {} });
      sink.flush();
      fault = undefined;
    }
  } finally {
    process.stderr.write = write;
  }
  const notice = '1 log lines were dropped because stderr did not accept them';
  expect(written).toEqual(['lost\n', `${notice}\nnext\n`, 'last\n']);
});
