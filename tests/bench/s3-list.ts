import { ask } from './kit/ask.ts';
import { barChart } from './kit/bars.ts';
import type { Benchmark } from './kit/benchmark.ts';
import { atLeast } from './kit/goals.ts';
import { median, ratioOf, short, showCount, showRatio } from './kit/numbers.ts';
import { firstPages } from './kit/paths.ts';
import { type Subject, serviceEnv, silentEnv, startSubject } from './kit/process.ts';
import { gets } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { cpuNote, loadOf, type Turn } from './kit/turn.ts';

const connections = 64;
const users = 100;

const names = {
  ceiling: 'HTTP ceiling: same route, checks and bytes, nothing read',
  service: 'the service',
  silent: 'the service, LOG_LEVEL=silent',
};

/** Pages of 20 out of a large table, beside the same bytes without a table. */
export const list: Benchmark = {
  ids: ['S3'],
  title: 'Lists',
  async run({ folder, database, copyOf, rounds, seconds, size }) {
    const open = (path: string, env: Record<string, string>) =>
      startSubject('service', folder, { databaseUrl: `sqlite:${path}`, env });
    const noisy = await open(await database(size), serviceEnv);
    const silent = await open(await copyOf(size), silentEnv);
    const paths = await firstPages(noisy.url, size, users);
    const pages = await Promise.all(paths.map((path) => ask(noisy.url, path)));
    const page = pages.toSorted((a, b) => a.length - b.length)[Math.floor(pages.length / 2)] ?? '';
    const ceiling = await startSubject('bare', folder, { page });
    const turn = (subject: Subject) => () =>
      loadOf(subject, { connections, seconds, next: gets(paths) });
    const measured = await inTurn(rounds, {
      ceiling: turn(ceiling),
      service: turn(noisy),
      silent: turn(silent),
    });
    for (const subject of [noisy, silent, ceiling]) await subject.stop();
    return section(measured, size, page.length);
  },
};

type Figures = Record<keyof typeof names, Turn[]>;

function section(measured: Figures, size: number, bytes: number) {
  const rates = (name: keyof typeof names) => measured[name].map(({ perSecond }) => perSecond);
  const ratio = (name: keyof typeof names) => ratioOf(rates(name), rates('ceiling'));
  const all = Object.keys(names) as (keyof typeof names)[];
  const middle = (name: keyof typeof names, pick: (one: Turn) => number) =>
    short(median(measured[name].map(pick)));
  const rows = all.map((name) => [
    names[name],
    short(median(rates(name))),
    showRatio(ratio(name)),
    middle(name, ({ cpuMicros }) => cpuMicros),
    middle(name, ({ p50Ms }) => p50Ms),
    middle(name, ({ p99Ms }) => p99Ms),
  ]);
  const measure = `list, 20 of a user's among ${showCount(size)}, of the HTTP ceiling`;
  const bars = all.map((name) => ({
    label: names[name],
    value: ratio(name).middle,
    ours: name !== 'ceiling',
  }));
  const title = 'Lists of 20, 64 connections, as a share of the HTTP ceiling';
  return {
    goals: [atLeast('S3', measure, ratio('service'), 0.6)],
    tables: [
      {
        title: `First pages of 20, about ${short(bytes)} bytes, of ${users} users`,
        head: ['lists', 'a second', 'of the ceiling', 'CPU µs', 'p50 ms', 'p99 ms'],
        rows,
      },
    ],
    charts: [{ name: 'lists', alt: title, svg: barChart(title, bars) }],
    notes: [cpuNote],
  };
}
