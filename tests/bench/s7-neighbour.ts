import { createKey } from '../faults/target.ts';
import type { Benchmark, Context, Section } from './kit/benchmark.ts';
import { fetchText, waitForQueue } from './kit/client.ts';
import { importDataset } from './kit/databases.ts';
import { searchDatasetOf, searchUsers, tableOf } from './kit/dataset.ts';
import { atMost } from './kit/goals.ts';
import { openLoop } from './kit/load.ts';
import { median, quantile, ratioOf, short, showCount, showRatio } from './kit/numbers.ts';
import { firstPages, memoryPaths, searches } from './kit/paths.ts';
import { type Subject, startSubject } from './kit/process.ts';
import { benchKey, uncachedGets } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { startService } from './kit/service.ts';

const readsPerSecond = 400;
const most = 1.3;
const leastSeconds = 1;
/** The users whose memories the other project searches. */
const neighbours = { memories: 1_000, users: 4 };
const afterWarmUpMs = 300;

const names = {
  bare: 'the same load on a server that stores nothing',
  service: 'the service',
  idle: 'the service without load',
};
type Name = keyof typeof names;

/** A server and the other project's key. */
type Target = { subject: Subject; key: string };

/** Lists and gets by one project at a fixed rate, while another project loads the server. */
export const neighbour: Benchmark = {
  ids: ['S7'],
  title: 'Reads while another project loads the server',
  async run(context) {
    const { rounds, folder, size } = context;
    const service = await startTarget(context);
    const paths = readPaths(size);
    const bare = await startBare(context, service, paths);
    const during = Math.max(leastSeconds, context.seconds) * 1_000;
    async function read({ subject: { url } }: Target): Promise<number[]> {
      await Bun.sleep(afterWarmUpMs);
      const next = uncachedGets(paths);
      const samples = await openLoop({ url, perSecond: readsPerSecond, during, next });
      return samples.map(({ ms }) => ms);
    }
    async function readUnderLoad(target: Target): Promise<number[]> {
      const { key, subject } = target;
      const spec = { url: subject.url, key, users: searchUsers(neighbours) };
      const load = await startSubject('subjects/flood', folder, spec);
      const latencies = await read(target);
      await load.stop();
      // Queued records must not be processed while the next subject is measured.
      if (target === service) await waitForQueue(subject.url);
      return latencies;
    }
    const measured = await inTurn(rounds, {
      bare: () => readUnderLoad(bare),
      service: () => readUnderLoad(service),
      idle: () => read(service),
    });
    return section(measured, size);
  },
};

/**
 * Starts a service on a table that belongs to the reading project. Imports memories for the other
 * project's searches.
 */
async function startTarget({ folder, copyOf, size, current: tree }: Context): Promise<Target> {
  const database = await copyOf(tree, tableOf(size));
  const key = await createKey(`sqlite:${database}`, 'neighbour');
  const subject = await startService(folder, { tree, database });
  const dataset = searchDatasetOf([neighbours]);
  await importDataset(subject.url, dataset, key);
  return { subject, key };
}

/** Returns paths that alternate between lists and gets. */
function readPaths(size: number): string[] {
  const lists = firstPages(size, 50);
  return memoryPaths(size, 50).flatMap((path, at) => [path, lists[at] ?? path]);
}

/** Starts a bare server that replies to every route with a canned response. */
async function startBare(
  { folder }: Context,
  { subject: { url }, key }: Target,
  [memoryPath = '', listPath = '']: string[],
): Promise<Target> {
  const [searchPath = ''] = searches(searchUsers(neighbours)[0] ?? '');
  const canned = {
    'GET /v1/memories': await fetchText(url, listPath),
    'GET /v1/memories/search': await fetchText(url, searchPath, key),
    'GET /v1/memories/:id': await fetchText(url, memoryPath),
    'GET /v1/export': await fetchText(url, '/v1/export?limit=1000', key),
    'DELETE /v1/memories': '{"deleted":100}',
    'POST /v1/ingest/batch': '{"accepted":100,"failedCount":0,"items":[],"failed":[]}',
  };
  return { subject: await startSubject('subjects/bare', folder, { canned }), key: benchKey };
}

function section(measured: Record<Name, number[][]>, size: number): Section {
  const at = (name: Name, share: number) =>
    measured[name].map((latencies) => quantile(latencies, share));
  const ratio = (name: Name) => ratioOf(at(name, 0.99), at('bare', 0.99));
  const rows = (Object.keys(names) as Name[]).map((name) => [
    names[name],
    ...[0.5, 0.99, 1].map((share) => short(median(at(name, share)))),
    showRatio(ratio(name)),
  ]);
  const measure =
    'reads of one project while another saves, ingests, searches, exports and erases: p99 / p99 ' +
    'under the same load on a server that stores nothing';
  const title =
    `${readsPerSecond} reads per second, alternating between lists of 20 and gets, with ${showCount(size)} memories; ` +
    'the reader, the load generator and the server share the machine';
  return {
    goals: [atMost('S7', measure, ratio('service'), most)],
    tables: [
      { title, head: ['reads', 'p50 ms', 'p99 ms', 'worst ms', 'p99 / p99 nothing stored'], rows },
    ],
    notes: [
      'The other project sends requests without a pause: 16 connections save, 2 ingest batches of ' +
        '100, 2 search the memories of users with 1,000 each, 1 exports pages of 1,000, and 1 ' +
        'ingests 100 records for a user and erases another user. The server that stores nothing ' +
        'answers each request immediately with the same bytes, so it receives many more requests ' +
        'than the service.',
    ],
  };
}
