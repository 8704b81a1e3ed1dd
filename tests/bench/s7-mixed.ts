import { ask, processed } from './kit/ask.ts';
import type { Benchmark, Context } from './kit/benchmark.ts';
import { atMost } from './kit/goals.ts';
import { type Band, type Line, lineChart } from './kit/lines.ts';
import { median, quantile, ratioOf, short, showCount, showRatio } from './kit/numbers.ts';
import { pace, type Sample } from './kit/pace.ts';
import { firstPages, memoryPaths } from './kit/paths.ts';
import { type Subject, serviceEnv, startSubject } from './kit/process.ts';
import { getsAnew } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';

const readsPerSecond = 400;
const most = 5;
const stretchMs = 100;

const works = {
  idle: 'nothing else',
  bare: 'saves flat out, 64 connections, at a bare server that stores and reads nothing',
  saves: 'saves flat out, 64 connections',
  ingest: 'batch ingest flat out, 4 connections',
  both: 'both',
  backup: 'saves flat out, and backups one after the other',
};
type Work = keyof typeof works;
const inQuick: Work[] = ['idle', 'both'];

/** Lists and gets at a steady pace, while others keep the service as busy as it can be. */
export const mixed: Benchmark = {
  ids: ['S7'],
  title: 'Reads while writes run',
  async run(context) {
    const { quick, copyOf, rounds, seconds, folder, size } = context;
    const chosen = quick ? inQuick : (Object.keys(works) as Work[]);
    const turnSeconds = Math.max(0.5, seconds);
    const databaseUrl = `sqlite:${await copyOf(size)}`;
    const service = await startSubject('service', folder, { databaseUrl, env: serviceEnv });
    const lists = await firstPages(service.url, size, 50);
    const next = getsAnew(memoryPaths(size, 50).flatMap((path, at) => [path, lists[at] ?? path]));
    const bare = await startSubject('bare', folder, {
      page: await ask(service.url, lists[0] ?? ''),
    });
    const nextList = getsAnew(lists);
    const reads = { perSecond: readsPerSecond, seconds: turnSeconds };
    const turn = (work: Work) => async () => {
      const { url } = work === 'bare' ? bare : service;
      const others = await begin(work, context, url, databaseUrl);
      const samples = await pace({ url, ...reads, next: work === 'bare' ? nextList : next });
      for (const other of others) await other.stop();
      // What was ingested must not be worked on while the next turn is measured.
      await processed(service.url);
      return samples;
    };
    const turns = Object.fromEntries(chosen.map((work) => [work, turn(work)])) as Record<
      Work,
      () => Promise<Sample[]>
    >;
    const measured = await inTurn(rounds, turns);
    await service.stop();
    await bare.stop();
    return section(measured, size);
  },
};

function begin(
  work: Work,
  { folder }: Context,
  url: string,
  databaseUrl: string,
): Promise<Subject[]> {
  const ofSaves = ['saves'];
  const kinds = { idle: [], bare: ofSaves, saves: ofSaves, ingest: ['ingest'], both: ['both'] };
  const flood = work === 'backup' ? ofSaves : kinds[work];
  return Promise.all([
    ...flood.map((kind) => startSubject('flood', folder, { url, kind })),
    ...(work === 'backup' ? [startSubject('backup', folder, { databaseUrl, folder })] : []),
  ]);
}

type Figures = Partial<Record<Work, Sample[][]>>;

function section(measured: Figures, size: number) {
  const at = (work: Work, share: number) =>
    (measured[work] ?? []).map((samples) =>
      quantile(
        samples.map(({ ms }) => ms),
        share,
      ),
    );
  const ratio = (work: Work) => ratioOf(at(work, 0.99), at('idle', 0.99));
  const rows = (Object.keys(measured) as Work[]).map((work) => [
    works[work],
    ...[0.5, 0.99, 1].map((share) => short(median(at(work, share)))),
    work === 'idle' ? '1' : showRatio(ratio(work)),
  ]);
  const held = (['saves', 'ingest', 'both'] as const).filter((work) => work in measured);
  const goals = held.map((work) =>
    atMost('S7', `reads beside ${works[work]}, p99 / p99 idle`, ratio(work), most),
  );
  const title =
    `${readsPerSecond} reads a second, lists of 20 and gets in turn, among ${showCount(size)}; ` +
    'reader, load and service share the machine';
  const head = ['beside', 'p50 ms', 'p99 ms', 'worst ms', 'p99 / p99 idle'];
  return { goals, tables: [{ title, head, rows }], charts: [chartOf(measured)] };
}

/** The last round of each, one after the other, as p50 and p99 of short stretches. */
function chartOf(measured: Figures) {
  const bands: Band[] = [];
  const all: Sample[] = [];
  for (const work of Object.keys(measured) as Work[]) {
    const samples = measured[work]?.at(-1) ?? [];
    const from = bands.at(-1)?.to ?? 0;
    const to = from + Math.max(0, ...samples.map(({ at }) => at)) / 1_000;
    bands.push({ from, to, label: work });
    all.push(...samples.map(({ at, ms }) => ({ at: from * 1_000 + at, ms })));
  }
  const alt = 'Read latency while saves, ingest and backups run';
  const marks = bands.map(({ to }) => ({ x: to, label: `${short(to)} s` }));
  const lines = [lineOf(all, 'p50', 0.5), lineOf(all, 'p99', 0.99)];
  const svg = lineChart({ title: alt, lines, marks, bands, yLabel: 'ms', logY: true });
  return { name: 'mixed', alt, svg };
}

function lineOf(samples: Sample[], name: string, share: number): Line {
  const stretches = Map.groupBy(samples, ({ at }) => Math.floor(at / stretchMs));
  const points = [...stretches].map(([stretch, within]) => ({
    x: (stretch * stretchMs) / 1_000,
    y: quantile(
      within.map(({ ms }) => ms),
      share,
    ),
  }));
  return { name, points: points.toSorted((a, b) => a.x - b.x) };
}
