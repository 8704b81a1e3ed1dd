import { join } from 'node:path';
import { barChart } from './kit/bar-chart.ts';
import type { Benchmark, Context, Section } from './kit/benchmark.ts';
import { fetchText } from './kit/client.ts';
import { tableOf } from './kit/dataset.ts';
import { atLeast } from './kit/goals.ts';
import { install } from './kit/install-peers.ts';
import {
  cpuNote,
  type Figures,
  loadColumns,
  loadOf,
  loadRows,
  type MeasuredLoad,
  rateRatio,
  rates,
} from './kit/measured-load.ts';
import { median, ratioOf, short, showCount } from './kit/numbers.ts';
import { firstPages } from './kit/paths.ts';
import { fillPeer, peers, startPeer } from './kit/peers.ts';
import { type Subject, startSubject } from './kit/process.ts';
import { uncachedGets } from './kit/requests.ts';
import { inTurn, measureEach } from './kit/rounds.ts';
import { startOn } from './kit/service.ts';

const connections = 64;
const users = 100;
const leastSeconds = 0.25;

const names = {
  ceiling: 'HTTP ceiling: same response, nothing read',
  service: 'the service',
  baseline: 'the baseline',
  fastifyFull: peers.fastifyFull.name,
};
type Name = keyof typeof names;

/** Pages of 20 from a large table, each page read from the database. */
export const list: Benchmark = {
  ids: ['S3'],
  title: 'Lists',
  async run(context) {
    const { rounds, size } = context;
    const seconds = Math.max(leastSeconds, context.seconds);
    const started = await startAll(context);
    const { service } = started;
    if (service === undefined) throw new Error('the service did not start');
    const paths = await firstPages(service.url, size, users);
    const pages = await Promise.all(paths.map((path) => fetchText(service.url, path)));
    const page = pages.toSorted((a, b) => a.length - b.length)[Math.floor(pages.length / 2)] ?? '';
    const canned = { 'GET /v1/memories': page };
    started.ceiling = await startSubject('bare', context.folder, { canned });
    const measurements = measureEach(started, (subject) => {
      const next = uncachedGets(paths);
      return () => loadOf(subject, { connections, seconds, next });
    });
    const measured = await inTurn(rounds, measurements);
    for (const subject of Object.values(started)) await subject.stop();
    return section(measured, size, page.length);
  },
};

async function startAll(context: Context): Promise<Partial<Record<Name, Subject>>> {
  const { folder, current, baseline, size, say } = context;
  const table = tableOf(size);
  const started: Partial<Record<Name, Subject>> = {
    service: await startOn(context, current, table),
  };
  if (baseline !== null) started.baseline = await startOn(context, baseline, table);
  const why = await install(say);
  if (why !== null) {
    say(`  SKIPPED: fastify is not installed: ${why}`);
    return started;
  }
  const path = join(folder, 'list-fastify.db');
  fillPeer(table, path);
  started.fastifyFull = await startPeer('fastifyFull', folder, path);
  return started;
}

function section(figures: Figures<Name>, size: number, bytes: number): Section {
  const all = (Object.keys(names) as Name[]).filter((name) => name in figures);
  const title = `Lists of 20 per second, ${connections} connections`;
  const bars = all
    .filter((name) => name !== 'ceiling')
    .map((name) => ({
      label: names[name],
      value: median(rates(figures[name])),
      ours: name === 'service',
    }));
  return {
    goals: goalsOf(figures, size),
    tables: [
      {
        title:
          `First pages of 20 (about ${short(bytes)} bytes) for ${users} users, ` +
          `${showCount(size)} memories in total`,
        head: ['lists', ...loadColumns, 'relative to ceiling'],
        rows: loadRows(figures, names, 'ceiling'),
      },
    ],
    charts: [barChart('lists', title, bars)],
    notes: [cpuNote],
  };
}

function goalsOf(figures: Figures<Name>, size: number) {
  const lists = `list, first page of 20, ${showCount(size)} memories`;
  const goals = [];
  if ('fastifyFull' in figures) {
    const baseline = figures.baseline && rateRatio(figures, 'baseline', 'fastifyFull');
    const options = { unit: ' ×', baseline };
    goals.push(
      atLeast(
        'S3',
        `${lists}: relative to ${names.fastifyFull}`,
        rateRatio(figures, 'service', 'fastifyFull'),
        2.5,
        options,
      ),
    );
  }
  if (figures.baseline !== undefined) {
    const cpu = (measured: MeasuredLoad[] = []) => measured.map(({ cpuMicros }) => cpuMicros);
    const ratio = ratioOf(cpu(figures.baseline), cpu(figures.service));
    const measure = `${lists}: CPU time per page, the baseline’s relative to ours`;
    goals.push(atLeast('S3', measure, ratio, 1, { unit: ' ×' }));
  }
  return goals;
}
