import { ask } from './kit/ask.ts';
import { barChart } from './kit/bars.ts';
import type { Benchmark } from './kit/benchmark.ts';
import { atLeast } from './kit/goals.ts';
import { median, ratioOf, short, showCount, showRatio } from './kit/numbers.ts';
import { firstPages } from './kit/paths.ts';
import { type Subject, serviceEnv, silentEnv, startSubject } from './kit/process.ts';
import { gets, getsAnew } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { cpuNote, loadOf, type Turn } from './kit/turn.ts';

const connections = 64;
const users = 100;

const names = {
  ceiling: 'HTTP ceiling: same route, checks and bytes, nothing read',
  service: 'the service, of pages asked for before',
  anew: 'the service, of pages read anew',
  silent: 'the service, of pages asked for before, LOG_LEVEL=silent',
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
    const turn = (subject: Subject, next: () => Uint8Array) => () =>
      loadOf(subject, { connections, seconds, next });
    const measured = await inTurn(rounds, {
      ceiling: turn(ceiling, gets(paths)),
      service: turn(noisy, gets(paths)),
      anew: turn(noisy, getsAnew(paths)),
      silent: turn(silent, gets(paths)),
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
  const before = `${measure}, asked for before`;
  const anew = `${measure}, read anew`;
  const bars = all.map((name) => ({
    label: names[name],
    value: ratio(name).middle,
    ours: name !== 'ceiling',
  }));
  const title = 'Lists of 20, 64 connections, as a share of the HTTP ceiling';
  return {
    goals: [atLeast('S3', before, ratio('service'), 0.6), atLeast('S3', anew, ratio('anew'), 0.6)],
    tables: [
      {
        title: `First pages of 20, about ${short(bytes)} bytes, of ${users} users`,
        head: ['lists', 'a second', 'of the ceiling', 'CPU µs', 'p50 ms', 'p99 ms'],
        rows,
      },
    ],
    charts: [{ name: 'lists', alt: title, svg: barChart(title, bars) }],
    notes: [
      'A page is answered from memory when it was asked for before and nothing at all has been ' +
        'written since; where writes come between, the figure is that of pages read anew.',
      cpuNote,
    ],
  };
}
