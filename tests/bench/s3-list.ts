import { join } from 'node:path';
import { fastify, fillFastify, startFastify } from './fastify/start.ts';
import type { Benchmark, Context, Section } from './kit/benchmark.ts';
import { fetchText } from './kit/client.ts';
import { tableOf } from './kit/dataset.ts';
import { atLeast } from './kit/goals.ts';
import {
  cpuNote,
  type Figures,
  loadOf,
  loadTable,
  type MeasuredLoad,
  rateRatio,
} from './kit/measured-load.ts';
import { ratioOf, short, showCount } from './kit/numbers.ts';
import { firstPages } from './kit/paths.ts';
import { startSubject } from './kit/process.ts';
import { uncachedGets } from './kit/requests.ts';
import { inTurn, measureEach } from './kit/rounds.ts';
import { startOn } from './kit/service.ts';

const connections = 64;
const users = 100;

const names = {
  ceiling: 'HTTP ceiling: same response, nothing read',
  service: 'the service',
  baseline: 'the baseline',
  fastify,
};
type Name = keyof typeof names;

/** Pages of 20 from a large table, each page read from the database. */
export const list: Benchmark = {
  ids: ['S3'],
  title: 'Lists',
  async run(context) {
    const { rounds, seconds, size } = context;
    const started = await startAll(context);
    const { url } = started.service;
    const paths = firstPages(size, users);
    const pages = await Promise.all(paths.map((path) => fetchText(url, path)));
    const page = pages.toSorted((a, b) => a.length - b.length)[Math.floor(pages.length / 2)] ?? '';
    const canned = { 'GET /v1/memories': page };
    const ceiling = await startSubject('subjects/bare', context.folder, { canned });
    const measurements = measureEach({ ...started, ceiling }, (subject) => {
      const next = uncachedGets(paths);
      return () => loadOf(subject, { connections, seconds, next });
    });
    const measured = await inTurn(rounds, measurements);
    return section(measured, size, page.length);
  },
};

async function startAll(context: Context) {
  const { folder, current, baseline, size } = context;
  const table = tableOf(size);
  const path = join(folder, 'list-fastify.db');
  fillFastify(table, path);
  return {
    service: await startOn(context, current, table),
    baseline: await startOn(context, baseline, table),
    fastify: await startFastify(folder, path),
  };
}

function section(figures: Figures<Name>, size: number, bytes: number): Section {
  const title =
    `First pages of 20 (about ${short(bytes)} bytes) for ${users} users, ` +
    `${showCount(size)} memories in total`;
  const reference = { name: 'ceiling', title: 'ceiling' } as const;
  const table = loadTable({ title, what: 'lists' }, figures, names, reference);
  return { goals: goalsOf(figures, size), tables: [table], notes: [cpuNote] };
}

function goalsOf(figures: Figures<Name>, size: number) {
  const lists = `list, first page of 20, ${showCount(size)} memories`;
  const ofPeer = (name: Name) => rateRatio(figures, name, 'fastify');
  const cpu = (measured: MeasuredLoad[] = []) => measured.map(({ cpuMicros }) => cpuMicros);
  const ofCpu = ratioOf(cpu(figures.baseline), cpu(figures.service));
  const [unit, baseline] = [' ×', ofPeer('baseline')];
  const byCpu = `${lists}: CPU time per page, the baseline’s relative to ours`;
  const toPeer = `${lists}: relative to ${fastify}`;
  return [
    atLeast('S3', toPeer, ofPeer('service'), 2.5, { unit, baseline }),
    atLeast('S3', byCpu, ofCpu, 1, { unit }),
  ];
}
