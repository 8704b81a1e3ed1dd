import { setTimeout } from 'node:timers/promises';
import { resolveBaseUrl } from '../client/connect.ts';
import { type Load, loadOf } from '../client/load.ts';
import { readMetrics } from '../client/metrics.ts';
import { addExamples, type Parent } from '../commander.ts';
import { errorText } from '../errors.ts';
import { numberIn } from '../options.ts';
import { printJsonLine } from '../terminal/output.ts';
import type { Output } from '../terminal/process-output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { age, cut, padded, paint, shownBytes } from '../terminal/text.ts';

export function addTop(program: Parent, term: Terminal): void {
  const command = program
    .command('top')
    .description('Watch the load of a server: requests, latencies, backlog, cores and memory.')
    .option('--interval <seconds>', 'the time between two readings (default: 2)', parseInterval)
    .option('--count <number>', 'stop after this many readings', parseCount);
  command.action(async ({ interval = 2, count = Number.POSITIVE_INFINITY }) => {
    const watch = { term, intervalMs: interval * 1_000, count };
    const isLive = term.stdout.isTerminal && term.env.TERM !== 'dumb' && !term.options.json;
    if (isLive) return showScreens(watch);
    for await (const load of readLoads(watch)) {
      await (term.options.json
        ? printJsonLine(term, load)
        : term.stdout.write(`${lineOf(load)}\n`));
    }
  });
  command.addHelpText('after', help);
  addExamples(command, ['memory top', 'memory top --interval 10 --json']);
}

const parseInterval = numberIn([1, 3_600], 'a number of seconds from 1 to 3600');
const parseCount = numberIn([1, 1_000_000], 'a number from 1 to 1000000');

const help = `
On the server's machine, no key is needed. Elsewhere, use a key that was made
there with: memory keys create --metrics

A pipe receives a line for each reading: the time, requests per second, their
median and 99th percentile in ms, failed requests per second (5xx), used cores,
bytes of memory, waiting records, and memories without vectors, separated by
tabs. --json prints an object with all values for each reading.`;

type Watch = {
  term: Terminal;
  intervalMs: number;
  count: number;
  /** Ends the readings. */
  quit?: AbortSignal;
  /** Called with the reason if a reading after the first one fails, which is then repeated. */
  onFailure?(reason: string): Promise<void>;
};

async function* readLoads({ term, intervalMs, count, quit, onFailure }: Watch) {
  const signal = AbortSignal.any(quit ? [term.interrupted, quit] : [term.interrupted]);
  let last = { metrics: await readMetrics(term), at: performance.now() };
  for (let read = 0; read < count; ) {
    await setTimeout(intervalMs, undefined, { signal }).catch(() => {});
    if (quit?.aborted) return;
    try {
      const metrics = await readMetrics(term);
      const at = performance.now();
      const span = { before: last.metrics, after: metrics };
      yield loadOf(span, (at - last.at) / 1_000, term.now());
      last = { metrics, at };
      read += 1;
    } catch (error) {
      if (onFailure === undefined || term.interrupted.aborted) throw error;
      await onFailure(errorText(error));
    }
  }
}

function lineOf(load: Load): string {
  const { time, requestsPerSecond, p50Ms, p99Ms, failedPerSecond, cores } = load;
  const { memoryBytes, waitingTasks, pendingEmbeddings } = load;
  const figures = [requestsPerSecond, p50Ms, p99Ms, failedPerSecond, cores];
  const values = figures.map((value) => (value === null ? '' : value.toFixed(2)));
  return [time, ...values, memoryBytes, waitingTasks, pendingEmbeddings].join('\t');
}

/** The alternate screen keeps what was on the terminal before. The cursor is hidden. */
const enter = '\x1b[?1049h\x1b[?25l';
const leave = '\x1b[?25h\x1b[?1049l';

async function showScreens(watch: Watch): Promise<void> {
  const { term } = watch;
  const { value: url } = resolveBaseUrl(term);
  const show = (lines: string[]) => {
    const cutLines = lines.map((line) => `${line}\x1b[K\r\n`).join('');
    return term.stdout.write(`\x1b[H${cutLines}\x1b[J`);
  };
  const keys = watchKeys(term);
  let last: string[] = [];
  await term.stdout.write(enter);
  try {
    await show([`${url}: measuring…`, 'Press q to quit.']);
    const onFailure = (reason: string) => show([`${url}: ${reason}`, 'Press q to quit.']);
    for await (const load of readLoads({ ...watch, quit: keys.quit, onFailure })) {
      last = screenOf(load, url, term.stdout);
      await show([...last, '', 'Press q to quit.']);
    }
  } finally {
    keys.stop();
    await term.stdout.write(leave);
  }
  // Of a given number of readings, the last one stays on the terminal.
  if (watch.count < Number.POSITIVE_INFINITY) {
    await term.stdout.write(last.map((line) => `${line}\n`).join(''));
  }
}

const ctrlC = '\x03';

/** Aborts `quit` when the user types q or, in raw mode, Ctrl-C. */
function watchKeys({ stdin }: Terminal): { quit: AbortSignal; stop(): void } {
  const quit = new AbortController();
  if (!stdin.isTerminal) return { quit: quit.signal, stop() {} };
  stdin.setRaw(true);
  const reader = stdin.stream().getReader();
  async function read(): Promise<void> {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const typed = new TextDecoder().decode(value);
      if (['q', 'Q', ctrlC].some((key) => typed.includes(key))) quit.abort();
    }
  }
  read().catch(() => {});
  return {
    quit: quit.signal,
    stop() {
      stdin.setRaw(false);
      reader.cancel().catch(() => {});
    },
  };
}

function screenOf(load: Load, url: string, output: Output): string[] {
  const { version, healthy, time, routes } = load;
  const state = healthy ? 'healthy' : paint(output, 'red', 'failing');
  const figures = Object.entries(figuresOf(load)).map(([name, values]) => {
    const text = values.filter((value) => value !== null).join(', ');
    return `${paint(output, 'dim', name.padEnd(10))} ${cut(text, output.columns - 11)}`;
  });
  const head = ['REQUESTS/S', 'P50', 'P99'];
  const rows = routes.map(({ method, route, ...one }) => {
    const cells = [number(one.requestsPerSecond), ms(one.p50Ms), ms(one.p99Ms)];
    return row(`${method} ${route}`, cells);
  });
  return [
    `${paint(output, 'bold', url)}   ${version}   ${state}   ${time.slice(11, 19)} UTC`,
    '',
    ...figures,
    '',
    paint(output, 'bold', row('ROUTE', head)),
    ...rows,
  ];
}

/** The figures of each line. A figure that does not exist is null. */
function figuresOf(load: Load): Record<string, (string | null)[]> {
  const { memoryBytes, databaseBytes, logBytes, lastBackupAt, pendingEmbeddings } = load;
  return {
    requests: [
      `${number(load.requestsPerSecond)}/s`,
      `p50 ${ms(load.p50Ms)}`,
      `p99 ${ms(load.p99Ms)}`,
      `${number(load.inFlight)} in flight`,
      `failed ${number(load.failedPerSecond)}/s`,
      `rate-limited ${number(load.rateLimitedPerSecond)}/s`,
    ],
    process: [
      `${number(load.cores)} cores`,
      memoryBytes === null ? null : shownBytes(memoryBytes),
      `event loop p99 ${ms(load.eventLoopP99Ms)}`,
    ],
    writes: [
      `${number(load.writesPerSecond)}/s`,
      `${number(load.commitsPerSecond)} commits/s`,
      `commit p99 ${ms(load.commitP99Ms)}`,
    ],
    searches: [`${number(load.searchesPerSecond)}/s`],
    queue: [
      `${number(load.waitingTasks)} waiting`,
      `${number(load.runningTasks)} running`,
      `${number(load.failedTasks)} failed`,
      `oldest ${number(load.oldestTaskSeconds)} s`,
    ],
    vectors: [
      pendingEmbeddings === null ? 'no model' : `${number(pendingEmbeddings)} pending`,
      pendingEmbeddings === null ? null : `${number(load.embeddedPerSecond)}/s`,
    ],
    disk: [
      databaseBytes === null ? null : shownBytes(databaseBytes),
      logBytes === null ? null : `log ${shownBytes(logBytes)}`,
      lastBackupAt === null ? null : `last backup ${age(lastBackupAt, Date.parse(load.time))} ago`,
    ],
  };
}

const routeWidth = 40;
const cellWidth = 12;

function row(route: string, cells: string[]): string {
  return (
    padded(cut(route, routeWidth), routeWidth) +
    cells.map((one) => one.padStart(cellWidth)).join('')
  );
}

function number(value: number | null): string {
  return value === null ? '–' : value.toLocaleString('en', { maximumSignificantDigits: 3 });
}

function ms(value: number | null): string {
  return value === null ? '–' : `${number(value)} ms`;
}
