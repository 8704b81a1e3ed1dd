import { expect, test } from 'bun:test';
import { createSampler, createTrace } from '../../server/http/trace.ts';
import { createLogger, type LogEntry } from '../../server/log.ts';

function samplerAt() {
  const clock = { ms: 5_000 };
  const sample = createSampler(() => clock.ms);
  const samples = (kind: string, count: number) =>
    Array.from({ length: count }, () => sample(kind));
  return { clock, sample, samples };
}

test('after the burst, two lines a second are written, each with the number of suppressed lines', () => {
  const { clock, samples } = samplerAt();
  samples('401', 120);
  clock.ms += 499;
  expect(samples('401', 1)).toEqual([null]);
  clock.ms += 1;
  expect(samples('401', 3)).toEqual([101, null, null]);
  clock.ms += 500;
  expect(samples('401', 2)).toEqual([2, null]);
});

test('after a quiet period, the full burst is available again, and no more', () => {
  const { clock, samples } = samplerAt();
  samples('401', 50);
  clock.ms += 3_600_000;
  expect(samples('401', 21)).toEqual([30, ...Array(19).fill(0), null]);
});

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
