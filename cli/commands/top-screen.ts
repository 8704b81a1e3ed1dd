import type { Load } from '../client/load.ts';
import type { Output } from '../terminal/process-output.ts';
import { age, cut, padded, paint, shownBytes } from '../terminal/text.ts';

/** Returns the lines of a screen that shows the load of the server at `url`. */
export function screenOf(load: Load, url: string, output: Output): string[] {
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
    '',
    'Press q to quit.',
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
