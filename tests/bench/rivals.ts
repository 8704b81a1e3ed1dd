import { join } from 'node:path';
import { barChart } from './kit/bars.ts';
import type { Benchmark, Context } from './kit/benchmark.ts';
import { areInstalled, install } from './kit/install.ts';
import { load } from './kit/load.ts';
import { median, ratioOf, short, showCount, showRatio } from './kit/numbers.ts';
import { firstPages } from './kit/paths.ts';
import { type Subject, serviceEnv, startSubject } from './kit/process.ts';
import { getsAnew, saves } from './kit/requests.ts';
import { handOver, listOf, type RivalName, rivals, startRival } from './kit/rivals.ts';
import { inTurn } from './kit/rounds.ts';

const connections = 64;
const users = 50;
type Name = 'service' | RivalName;
type Rates = Record<Name, number[]>;
const inQuick: RivalName[] = ['expressFull', 'fastifyFull'];

const ours = {
  name: 'memory-service',
  promise: 'on the disk when answered: requests share commits, and wait for them',
};
const known = { service: ours, ...rivals };

/** Other servers that do the same save and the same list. */
export const beside: Benchmark = {
  ids: ['R'],
  title: 'Beside others',
  async run(context) {
    const { quick, sizes, say } = context;
    const why = quick && !areInstalled() ? 'a quick run installs nothing' : await install();
    if (why !== null) return { goals: [], tables: [], notes: [`The rivals did not run: ${why}`] };
    const size = sizes[0] ?? 0;
    const started = await startAll(context, size);
    const paths = await firstPages(started.service.url, size, users);
    say('  lists');
    const lists = await measure(context, started, (name) =>
      getsAnew(paths.map((path) => listOf(name, path))),
    );
    say('  saves');
    const made = await measure(context, started, saves);
    for (const subject of Object.values(started)) await subject.stop();
    return section(made, lists, size);
  },
};

async function startAll(context: Context, size: number): Promise<Record<Name, Subject>> {
  const { quick, folder, copyOf } = context;
  const path = await copyOf(size);
  const databaseUrl = `sqlite:${path}`;
  const started: Partial<Record<Name, Subject>> = {};
  for (const name of quick ? inQuick : (Object.keys(rivals) as RivalName[])) {
    const own = join(folder, `rival-${name}.${name === 'jsonServer' ? 'json' : 'db'}`);
    handOver(name, path, own);
    started[name] = await startRival(name, folder, own);
  }
  started.service = await startSubject('service', folder, { databaseUrl, env: serviceEnv });
  return started as Record<Name, Subject>;
}

function measure(
  { rounds, seconds }: Context,
  started: Record<Name, Subject>,
  requests: (name: Name) => () => Uint8Array,
): Promise<Rates> {
  const turns = (Object.keys(started) as Name[]).map((name) => {
    const { url } = started[name];
    const next = requests(name);
    const run = async () => (await load({ url, connections, seconds, next })).perSecond;
    return [name, run];
  });
  return inTurn(rounds, Object.fromEntries(turns) as Record<Name, () => Promise<number>>);
}

function section(made: Rates, lists: Rates, size: number) {
  const names = (Object.keys(known) as Name[]).filter((name) => name in made);
  const rows = names.map((name) => [
    known[name].name,
    short(median(made[name])),
    showRatio(ratioOf(made.service, made[name])),
    short(median(lists[name])),
    showRatio(ratioOf(lists.service, lists[name])),
    known[name].promise,
  ]);
  const bars = names.map((name) => ({
    label: known[name].name,
    value: ratioOf(made[name], made.service).middle,
    ours: name === 'service',
  }));
  const chart = 'Saves, 64 connections, as a share of ours';
  return {
    goals: [],
    tables: [
      {
        title: `Saves of 100 bytes and lists of 20, among ${showCount(size)}, 64 connections`,
        head: ['server', 'saves/s', 'ours is ×', 'lists/s', 'ours is ×', 'an answered save is'],
        rows,
      },
    ],
    charts: [{ name: 'rivals', alt: chart, svg: barChart(chart, bars) }],
    notes: [
      'The plain servers keep one table and two indexes; they have no search index, no keys to ' +
        'retry by, no log, and one fixed API key. They run on Node.',
    ],
  };
}
