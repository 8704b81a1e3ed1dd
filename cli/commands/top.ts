import { setTimeout } from 'node:timers/promises';
import { resolveBaseUrl } from '../client/connect.ts';
import { type Load, loadOf } from '../client/load.ts';
import { readMetrics } from '../client/metrics.ts';
import { addHelp, type Parent } from '../commander.ts';
import { errorText } from '../errors.ts';
import { numberIn } from '../options.ts';
import { printJsonLine } from '../terminal/output.ts';
import type { Output } from '../terminal/process-output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { age, cut, escapeLine, padded, paint, shownBytes } from '../terminal/text.ts';

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
  addHelp(command, help, ['memory top', 'memory top --interval 10 --json']);
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
  /** Called with the reason if a reading after the first one fails, which is then repeated. */
  onFailure?(reason: string): Promise<void>;
};

async function* readLoads({ term, intervalMs, count, onFailure }: Watch) {
  let last = { metrics: await readMetrics(term), at: performance.now() };
  for (let read = 0; read < count; ) {
    await setTimeout(intervalMs, undefined, { signal: term.interrupted });
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

/** Draws each reading over the one before. The last one stays on the terminal. */
async function showScreens(watch: Watch): Promise<void> {
  const { stdout } = watch.term;
  const { value: url } = resolveBaseUrl(watch.term);
  const show = (lines: string[]) => {
    const drawn = lines.map((line) => `${line}\x1b[K\n`).join('');
    return stdout.write(`\x1b[H${drawn}\x1b[J`);
  };
  await show([escapeLine(`${url}: measuring…`)]);
  const onFailure = (reason: string) => show([escapeLine(`${url}: ${reason}`)]);
  try {
    for await (const load of readLoads({ ...watch, onFailure })) {
      await show([...screenOf(load, url, stdout), '', 'Press Ctrl-C to quit.']);
    }
  } catch (error) {
    // On a terminal, Ctrl-C is how the command ends.
    if (!watch.term.interrupted.aborted) throw error;
  }
}

function screenOf(load: Load, url: string, output: Output): string[] {
  const { version, healthy, time, routes } = load;
  const state = healthy ? 'healthy' : paint(output, 'red', 'failing');
  const figures = Object.entries(figuresOf(load)).map(([name, values]) => {
    const text = values.filter((value) => value !== null).join(', ');
    return `${paint(output, 'dim', name.padEnd(10))} ${cut(text, Math.max(1, output.columns - 11))}`;
  });
  const head = ['REQUESTS/S', 'P50', 'P99'];
  const rows = routes.map(({ method, route, ...one }) => {
    const cells = [number(one.requestsPerSecond), ms(one.p50Ms), ms(one.p99Ms)];
    return row(`${method} ${route}`, cells);
  });
  return [
    `${paint(output, 'bold', url)}   ${escapeLine(`${version}`)}   ${state}   ${time.slice(11, 19)} UTC`,
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
