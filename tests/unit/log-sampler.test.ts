import { expect, test } from 'bun:test';
import { createTrace } from '../../server/http/trace.ts';
import { createLogger, type LogEntry } from '../../server/log.ts';

/* tests/http/log-floods.test.ts has the sampling itself. */

test('a line states its duration in tenths, and how many lines before it were suppressed', () => {
  const clock = { ms: 5_000 };
  const lines: LogEntry[] = [];
  const log = createLogger('info', (entry) => lines.push(entry));
  const trace = createTrace({ log, clock: () => clock.ms, addressOf: () => '' });
  const request = new Request('http://127.0.0.1:7070/v1/memories');
  const answer = (ms: number) => {
    const set = { status: 401, headers: {} };
    trace.begin(request, set);
    clock.ms += ms;
    trace.end({ request, set });
  };
  answer(12.34);
  for (let sent = 1; sent < 21; sent += 1) answer(0);
  clock.ms += 1_000;
  answer(0);
  const suppressed = lines.map(({ fields }) => fields.suppressed);
  expect(suppressed).toEqual([...Array(20).fill(undefined), 1]);
  expect(lines[0]?.fields.durationMs).toBe(12.3);
});
