import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { barChart } from './kit/bars.ts';
import type { Benchmark, Context, Goal, Section } from './kit/benchmark.ts';
import { atLeast, atMost } from './kit/goals.ts';
import { median, ratioOf, short, showRatio } from './kit/numbers.ts';
import { type Subject, serviceEnv, silentEnv, startSubject } from './kit/process.ts';
import { keyedSaves, saves } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { cpuNote, loadOf, type Turn } from './kit/turn.ts';

const connections = 64;
const settleMs = 100;
/** Of each process, with one connection. */
const forOneClient = {
  seconds: 0.15,
  rounds: 30,
  /** The write-ahead logs have reached their length after these: while one grows, commits take
   * longer. */
  warmUps: 15,
};

/** In the order of the tables. */
const subjects = {
  ceiling: 'HTTP ceiling: same route, checks and answer, nothing stored',
  unstored: 'the service, nothing stored',
  service: 'the service',
  silent: 'the service, LOG_LEVEL=silent',
  keyed: 'the service, each save with an idempotency key',
  apart: 'the service, but with a commit for each request, FULL',
  single: 'a bare server with a commit for each request, FULL',
  plain: 'the same, set to WAL and FULL and nothing else',
  unsafe: 'the bare server with NORMAL (not durable)',
};
type Name = keyof typeof subjects;
type Figures = Partial<Record<Name, Turn[]>>;

const allNames = Object.keys(subjects) as Name[];
/** What a single client is compared with. */
const forOne: Name[] = ['ceiling', 'service', 'apart', 'single', 'plain'];

/** Durable saves: how many, and how late the latest are. */
export const save: Benchmark = {
  ids: ['S1', 'S2'],
  title: 'Durable saves',
  async run(context) {
    const many = await measure(context, allNames, connections);
    // A quick run ends before a single client has brought the logs to their length.
    return section(many, context.quick ? null : await measureOne(context), context);
  },
};

/**
 * Far shorter turns and more of them, because what else the machine does weighs more on a single
 * client, and comes and goes within seconds; and all of it with new processes each time, because
 * figures differ from start to start.
 */
async function measureOne(context: Context): Promise<Figures> {
  const figures = Object.fromEntries(forOne.map((name) => [name, [] as Turn[]])) as Figures;
  for (let start = 0; start < context.rounds; start += 1) {
    const folder = join(context.folder, `start-${start}`);
    mkdirSync(folder);
    const measured = await measure({ folder, ...forOneClient }, inOrder(start), 1);
    rmSync(folder, { recursive: true });
    for (const name of forOne) figures[name]?.push(...(measured[name] ?? []));
  }
  return figures;
}

/** Each follows a different one from start to start: who came before may have left the disk busy.
 * There are five, a prime, so that each step from one to four visits all of them. */
function inOrder(start: number): Name[] {
  const step = 1 + (start % (forOne.length - 1));
  return forOne.map((_, place) => forOne[(place * step) % forOne.length] ?? 'service');
}

type Turns = Pick<Context, 'folder' | 'rounds' | 'seconds'> & { warmUps?: number };

async function measure(
  { folder, rounds, seconds, warmUps }: Turns,
  names: Name[],
  connections: number,
): Promise<Figures> {
  const started: Subject[] = [];
  const turns: Partial<Record<Name, () => Promise<Turn>>> = {};
  for (const name of names) {
    const subject = await open(name, folder, `save-${connections}-${name}.db`);
    started.push(subject);
    const next = name === 'keyed' ? keyedSaves() : saves();
    turns[name] = async () => {
      const turn = await loadOf(subject, { connections, seconds, next });
      // What it has begun beside its answers is not to slow down the one after it.
      await Bun.sleep(settleMs);
      return turn;
    };
  }
  const measured = await inTurn(rounds, turns as Record<Name, () => Promise<Turn>>, warmUps);
  for (const subject of started) await subject.stop();
  return measured;
}

function open(name: Name, folder: string, file: string): Promise<Subject> {
  const path = join(folder, file);
  const databaseUrl = `sqlite:${path}`;
  switch (name) {
    case 'ceiling':
      return startSubject('bare', folder, {});
    case 'unstored':
      return startSubject('unstored', folder, { env: serviceEnv });
    case 'apart':
      return startSubject('unstored', folder, {
        env: serviceEnv,
        store: { path, synchronous: 'FULL' },
      });
    case 'single':
      return startSubject('bare', folder, { store: { path, synchronous: 'FULL' } });
    case 'plain':
      return startSubject('bare', folder, { store: { path, synchronous: 'FULL', plain: true } });
    case 'unsafe':
      return startSubject('bare', folder, { store: { path, synchronous: 'NORMAL' } });
    case 'silent':
      return startSubject('service', folder, { databaseUrl, env: silentEnv });
    default:
      return startSubject('service', folder, { databaseUrl, env: serviceEnv });
  }
}

function section(many: Figures, one: Figures | null, context: Context): Section {
  const tables = [tableOf(many, `${connections} connections`)];
  if (one !== null) {
    const turns = `${forOneClient.rounds} turns of ${forOneClient.seconds} s`;
    tables.push(tableOf(one, `one connection, ${turns} in each of ${context.rounds} processes`));
  }
  const notes = [
    'A commit for each request stores the same rows, indexes and passages, in the same schema and, ' +
      'where nothing else is said, with the same settings. The bare server does it behind the ' +
      'route of the ceiling: it checks no key, gives no request id and logs nothing. Set to WAL ' +
      'and FULL and nothing else, which is what a plain server does, it writes the log into the ' +
      'file eight times as often, and has no foreign keys and no erasure of deleted text.',
  ];
  return {
    goals: [...goalsOfMany(many), ...(one === null ? [] : goalsOfOne(one)), goalOfTail(many)],
    tables,
    charts: [chartOf(many)],
    notes: [...notes, cpuNote],
  };
}

const rates = (turns: Turn[] = []) => turns.map(({ perSecond }) => perSecond);

const against = (figures: Figures, a: Name, b: Name) =>
  ratioOf(rates(figures[a]), rates(figures[b]));

function goalsOfMany(many: Figures): Goal[] {
  const ceiling = 'durable saves, 64 connections, of the HTTP ceiling';
  const single = 'durable saves, 64 connections, of one commit per request';
  return [
    atLeast('S1', ceiling, against(many, 'service', 'ceiling'), 0.5),
    atLeast('S1', `${ceiling}, with idempotency keys`, against(many, 'keyed', 'ceiling'), 0.4),
    atLeast('S1', single, against(many, 'service', 'single'), 12, ' ×'),
  ];
}

function goalOfTail({ service: turns = [] }: Figures): Goal {
  const tail = ratioOf(
    turns.map(({ p99Ms }) => p99Ms),
    turns.map(({ p50Ms }) => p50Ms),
  );
  return atMost('S2', 'durable saves, 64 connections, p99 / p50', tail, 8);
}

function goalsOfOne(one: Figures): Goal[] {
  const alone = 'durable saves, one connection, of the same service with one commit per request';
  const bare = 'durable saves, one connection, of a bare server with one commit per request';
  const plain = `${bare}, set to WAL and FULL alone`;
  return [
    atLeast('S1', alone, against(one, 'service', 'apart'), 0.9),
    atLeast('S1', bare, against(one, 'service', 'single'), 0.9),
    atLeast('S1', plain, against(one, 'service', 'plain'), 0.9),
  ];
}

function tableOf(figures: Figures, title: string) {
  const names = allNames.filter((name) => name in figures);
  const rows = names.map((name) => {
    const turns = figures[name] ?? [];
    const middle = (pick: (one: Turn) => number) => short(median(turns.map(pick)));
    return [
      subjects[name],
      middle(({ perSecond }) => perSecond),
      showRatio(ratioOf(rates(turns), rates(figures.ceiling))),
      middle(({ cpuMicros }) => cpuMicros),
      middle(({ p50Ms }) => p50Ms),
      middle(({ p99Ms }) => p99Ms),
      middle(({ maxMs }) => maxMs),
    ];
  });
  const head = ['saves', 'a second', 'of the ceiling', 'CPU µs', 'p50 ms', 'p99 ms', 'worst ms'];
  return { title: `Saves of 100 bytes, ${title}`, head, rows };
}

function chartOf(figures: Figures) {
  const bars = allNames.map((name) => ({
    label: subjects[name],
    value: ratioOf(rates(figures[name]), rates(figures.ceiling)).middle,
    ours: ['service', 'silent', 'keyed'].includes(name),
  }));
  const alt = 'Saves a second beside their ceilings';
  const title = 'Durable saves, 64 connections, as a share of the HTTP ceiling';
  return { name: 'saves', alt, svg: barChart(title, bars) };
}
