import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fastify, startFastify } from './fastify/start.ts';
import type { Benchmark, Context, Goal, Section } from './kit/benchmark.ts';
import { atLeast, atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import {
  cpuNote,
  type Figures,
  loadOf,
  loadTable,
  type MeasuredLoad,
  rateRatio,
} from './kit/measured-load.ts';
import { ratioOf } from './kit/numbers.ts';
import { type Subject, startSubject, stopAll } from './kit/process.ts';
import { keyedSaves, saves } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { serviceEnv, startService } from './kit/service.ts';
import type { Tree } from './kit/trees.ts';

const connections = 64;
/** The pause after a measurement, so that leftover work does not slow down the next subject. */
const settleMs = 100;

/** The names are in the order of the table rows. */
const saveSubjects = {
  ceiling: 'HTTP ceiling: same route, schema and response, nothing stored',
  unstored: 'the service, nothing stored',
  service: 'the service',
  keyed: 'the service, each save with an idempotency key',
  baseline: 'the baseline',
  baselineKeyed: 'the baseline, each save with an idempotency key',
  singleCommit: 'the service with one commit per request, FULL',
  bare: 'a bare Elysia server with one commit per request, FULL',
  bareNormal: 'the bare server with NORMAL (not durable)',
  fastify,
};
type SaveSubject = keyof typeof saveSubjects;
type SaveFigures = Figures<SaveSubject>;

/** Durable saves by many clients: throughput and tail latency. */
export const save: Benchmark = {
  ids: ['S1', 'S2'],
  title: 'Durable saves',
  async run(context) {
    const names = Object.keys(saveSubjects) as SaveSubject[];
    return section(await measureSaves(context, names, connections, context));
  },
};

/**
 * The load on each subject before the measurement. Until the write-ahead log reaches its full
 * length, every commit extends the file and is several times slower.
 */
const warmUp = { connections, maxResponses: 3_000, seconds: 3 };

type Timing = { rounds: number; seconds: number; warmUps?: number };

/** Starts every subject on an empty database and measures all of them alternately. */
async function measureSaves(
  context: Context,
  names: readonly SaveSubject[],
  connections: number,
  { rounds, seconds, warmUps }: Timing,
): Promise<SaveFigures> {
  const measurements: Partial<Record<SaveSubject, () => Promise<MeasuredLoad>>> = {};
  for (const name of names) {
    const subject = await start(name, context, `${crypto.randomUUID()}.db`);
    const isKeyed = name === 'keyed' || name === 'baselineKeyed';
    const next = isKeyed ? keyedSaves() : saves();
    await load({ ...warmUp, url: subject.url, next });
    measurements[name] = async () => {
      const measured = await loadOf(subject, { connections, seconds, next });
      await Bun.sleep(settleMs);
      return measured;
    };
  }
  const measured = await inTurn(rounds, measurements, warmUps);
  await stopAll();
  return measured;
}

function start(name: SaveSubject, context: Context, file: string): Promise<Subject> {
  const { folder, current, baseline } = context;
  const path = join(folder, file);
  const full = { path, synchronous: 'FULL' };
  const service = (tree: Tree) => startService(folder, { tree, database: path });
  switch (name) {
    case 'ceiling':
      return startSubject('subjects/bare', folder, {});
    case 'unstored':
      return startSubject('internals/app', folder, { env: serviceEnv });
    case 'singleCommit':
      return startSubject('internals/app', folder, { env: serviceEnv, store: full });
    case 'bare':
      return startSubject('subjects/bare', folder, { store: full });
    case 'bareNormal':
      return startSubject('subjects/bare', folder, { store: { path, synchronous: 'NORMAL' } });
    case 'fastify':
      return startFastify(folder, path);
    case 'baseline':
    case 'baselineKeyed':
      return service(baseline);
    default:
      return service(current);
  }
}

function section(figures: SaveFigures): Section {
  return {
    goals: [...goalsOf(figures), tailGoal(figures)],
    tables: [savesTable(figures, `${connections} connections`)],
    notes: [storesNote, cpuNote],
  };
}

const storesNote =
  'The bare server and the service with one commit per request store the same rows and indexes as ' +
  'the service, with the same schema and SQLite settings. The bare server has no auth, request ' +
  'id or log. The fastify server keeps one table with two indexes and has no search.';

function goalsOf(figures: SaveFigures): Goal[] {
  const of = (one: SaveSubject, other: SaveSubject, limit: number, older?: SaveSubject) => {
    const keys = one === 'keyed' ? ', idempotency keys' : '';
    const measure = `saves, ${connections} connections${keys}: relative to ${saveSubjects[other]}`;
    const baseline = older && rateRatio(figures, older, other);
    return atLeast('S1', measure, rateRatio(figures, one, other), limit, { unit: ' ×', baseline });
  };
  return [
    of('service', 'fastify', 3.5, 'baseline'),
    of('keyed', 'fastify', 3.5, 'baselineKeyed'),
    of('service', 'singleCommit', 2.5, 'baseline'),
    of('keyed', 'singleCommit', 2.5, 'baselineKeyed'),
    of('service', 'baseline', 1),
    of('keyed', 'baselineKeyed', 1),
  ];
}

function tailGoal({ service, baseline }: SaveFigures): Goal {
  const tail = (measured: MeasuredLoad[] = []) =>
    ratioOf(
      measured.map(({ p99Ms }) => p99Ms),
      measured.map(({ p50Ms }) => p50Ms),
    );
  return atMost('S2', `saves, ${connections} connections: p99 / p50`, tail(service), 8, {
    baseline: tail(baseline),
  });
}

function savesTable(figures: SaveFigures, title: string) {
  const about = { title: `Saves of 100 bytes, ${title}`, what: 'saves' };
  return loadTable(about, figures, saveSubjects, { name: 'ceiling', title: 'ceiling' });
}

/**
 * The measurements are short, because other load on the machine changes within seconds and affects
 * a single client most.
 */
const alone = {
  full: { starts: 5, rounds: 20, warmUps: 3, seconds: 0.15 },
  quick: { starts: 1, rounds: 15, warmUps: 2, seconds: 0.1 },
};

/** Durable saves by a single client, which cannot share a commit with other clients. */
export const saveAlone: Benchmark = {
  ids: ['S1b'],
  title: 'Durable saves by one client',
  async run(context) {
    const { starts, ...timing } = alone[context.quick ? 'quick' : 'full'];
    const figures = await measureStarts(context, starts, timing);
    const measure = 'saves, one connection: relative to a bare server with one commit per request';
    const baseline = rateRatio(figures, 'baseline', 'bare');
    const each = `${timing.rounds} rounds of ${timing.seconds} s`;
    return {
      goals: [atLeast('S1b', measure, rateRatio(figures, 'service', 'bare'), 0.65, { baseline })],
      tables: [savesTable(figures, `one connection, ${each} in each of ${starts} process starts`)],
    };
  },
};

/** Restarts the processes `starts` times, because figures differ between starts. */
async function measureStarts(
  context: Context,
  starts: number,
  timing: Timing,
): Promise<SaveFigures> {
  const names: SaveSubject[] = ['ceiling', 'service', 'bare', 'baseline'];
  if (!context.quick) names.push('singleCommit');
  const figures: SaveFigures = {};
  for (let start = 0; start < starts; start += 1) {
    const folder = join(context.folder, `start-${start}`);
    mkdirSync(folder);
    // A subject may leave the disk busy, so each start has another order.
    const order = [...names.slice(start), ...names.slice(0, start)];
    const measured = await measureSaves({ ...context, folder }, order, 1, timing);
    rmSync(folder, { recursive: true });
    for (const name of names) {
      figures[name] = [...(figures[name] ?? []), ...(measured[name] ?? [])];
    }
  }
  return figures;
}
