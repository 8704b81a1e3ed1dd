import { join } from 'node:path';
import { barChart } from './kit/bar-chart.ts';
import type { Benchmark, Context, Section } from './kit/benchmark.ts';
import { tableOf } from './kit/dataset.ts';
import { install } from './kit/install-peers.ts';
import { load } from './kit/load.ts';
import { median, ratioOf, short, showCount, showRatio } from './kit/numbers.ts';
import { firstPages } from './kit/paths.ts';
import { fillPeer, type PeerName, peers, startPeer } from './kit/peers.ts';
import type { Subject } from './kit/process.ts';
import { type NextRequest, saves, uncachedGets } from './kit/requests.ts';
import { inTurn, measureEach } from './kit/rounds.ts';
import { startService } from './kit/service.ts';

const connections = 64;
const users = 50;
type Name = 'service' | PeerName;
type Rates = Partial<Record<Name, number[]>>;

const service = {
  name: 'memory-service',
  durability: 'on disk before the response: requests that arrive together share a commit',
};
const all = { service, ...peers };

/** Compares the service with other servers: saves, lists, and the durability of a save. */
export const comparison: Benchmark = {
  ids: ['peers'],
  title: 'Other servers',
  async run(context) {
    const { quick, sizes, say } = context;
    const why = quick
      ? 'a quick run compares with other servers only in S1 and S3'
      : await install(say);
    if (why !== null) return { goals: [], tables: [], notes: [`This was not measured: ${why}.`] };
    const size = sizes[0] ?? 0;
    const started = await startAll(context, size);
    const paths = await firstPages(started.service.url, size, users);
    const lists = await measure(context, started, () => uncachedGets(paths));
    const saved = await measure(context, started, () => saves());
    for (const subject of Object.values(started)) await subject.stop();
    return section(saved, lists, size);
  },
};

async function startAll(context: Context, size: number): Promise<Record<Name, Subject>> {
  const { folder, copyOf, current } = context;
  const table = tableOf(size);
  const started: Partial<Record<Name, Subject>> = {};
  for (const name of Object.keys(peers) as PeerName[]) {
    const path = join(folder, `peer-${name}.db`);
    fillPeer(table, path);
    started[name] = await startPeer(name, folder, path);
  }
  const database = await copyOf(current, table);
  started.service = await startService(folder, { tree: current, database });
  return started as Record<Name, Subject>;
}

function measure(
  { rounds, seconds }: Context,
  started: Record<Name, Subject>,
  requests: () => NextRequest,
): Promise<Rates> {
  const measurements = measureEach(started, ({ url }) => {
    const next = requests();
    return async () => (await load({ url, connections, seconds, next })).perSecond;
  });
  return inTurn(rounds, measurements);
}

function section(saved: Rates, lists: Rates, size: number): Section {
  const names = (Object.keys(all) as Name[]).filter((name) => name in saved);
  const rows = names.map((name) => [
    all[name].name,
    ...[saved, lists].flatMap(({ service = [], [name]: rates = [] }) => [
      short(median(rates)),
      showRatio(ratioOf(service, rates)),
    ]),
    all[name].durability,
  ]);
  const bars = names.map((name) => ({
    label: all[name].name,
    value: median(saved[name] ?? []),
    ours: name === 'service',
  }));
  const title = `Saves per second with ${showCount(size)} memories, ${connections} connections`;
  return {
    goals: [],
    tables: [
      {
        title: `Saves of 100 bytes and lists of 20 with ${showCount(size)} memories, ${connections} connections`,
        head: [
          'server',
          'saves/s',
          'ours/theirs',
          'lists/s',
          'ours/theirs',
          'durability of a save',
        ],
        rows,
      },
    ],
    charts: [barChart('peers', title, bars)],
    notes: [
      'The other servers run on Node and have no search, no idempotency keys and no log. They ' +
        'have one table with two indexes and one fixed API key.',
    ],
  };
}
