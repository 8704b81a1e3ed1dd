import { join } from 'node:path';
import { rateChart } from './kit/bar-chart.ts';
import type { Benchmark, Context, Section } from './kit/benchmark.ts';
import { tableOf } from './kit/dataset.ts';
import { type Figures, loadOf, rateRatio, rates } from './kit/measured-load.ts';
import { median, short, showCount, showRatio } from './kit/numbers.ts';
import { firstPages } from './kit/paths.ts';
import { fillPeer, type PeerName, peers, startPeer } from './kit/peers.ts';
import type { Subject } from './kit/process.ts';
import { type NextRequest, saves, uncachedGets } from './kit/requests.ts';
import { inTurn, measureEach } from './kit/rounds.ts';
import { startService } from './kit/service.ts';

const connections = 64;
const users = 50;
type Name = 'service' | PeerName;

const durability: Record<Name, string> = {
  service: 'on disk before the response: requests that arrive together share a commit',
  fastifyFull: 'on disk before the response: one commit per request',
  fastifyNormal: 'survives a crash of the process; a power loss can lose the last commits',
};
const names: Record<Name, string> = { service: 'memory-service', ...peers };

/** Compares the service with other servers: saves, lists, and the durability of a save. */
export const comparison: Benchmark = {
  ids: ['peers'],
  title: 'Other servers',
  async run(context) {
    if (context.quick) {
      const why = 'a quick run compares with other servers only in S1 and S3';
      return { goals: [], tables: [], notes: [`This was not measured: ${why}.`] };
    }
    const size = context.sizes[0] ?? 0;
    const started = await startAll(context, size);
    const paths = await firstPages(started.service.url, size, users);
    const lists = await measure(context, started, () => uncachedGets(paths));
    const saved = await measure(context, started, saves);
    for (const subject of Object.values(started)) await subject.stop();
    return section(saved, lists, size);
  },
};

async function startAll({ folder, copyOf, current: tree }: Context, size: number) {
  const table = tableOf(size);
  const startFilled = (name: PeerName) => {
    const path = join(folder, `peer-${name}.db`);
    fillPeer(table, path);
    return startPeer(name, folder, path);
  };
  return {
    service: await startService(folder, { tree, database: await copyOf(tree, table) }),
    fastifyFull: await startFilled('fastifyFull'),
    fastifyNormal: await startFilled('fastifyNormal'),
  };
}

function measure(
  { rounds, seconds }: Context,
  started: Record<Name, Subject>,
  requests: () => NextRequest,
) {
  const measurements = measureEach(started, (subject) => {
    const next = requests();
    return () => loadOf(subject, { connections, seconds, next });
  });
  return inTurn(rounds, measurements);
}

function section(saved: Figures<Name>, lists: Figures<Name>, size: number): Section {
  const of = `with ${showCount(size)} memories, ${connections} connections`;
  const rows = (Object.keys(names) as Name[]).map((name) => [
    names[name],
    ...[saved, lists].flatMap((figures) => [
      short(median(rates(figures[name]))),
      showRatio(rateRatio(figures, 'service', name)),
    ]),
    durability[name],
  ]);
  const columns = ['saves/s', 'ours/theirs', 'lists/s', 'ours/theirs', 'durability of a save'];
  return {
    goals: [],
    tables: [
      { title: `Saves of 100 bytes and lists of 20 ${of}`, head: ['server', ...columns], rows },
    ],
    charts: [rateChart('peers', `Saves per second ${of}`, saved, names)],
    notes: [
      'The other servers run on Node and have no search, no idempotency keys and no log. They ' +
        'have one table with two indexes and one fixed API key.',
    ],
  };
}
