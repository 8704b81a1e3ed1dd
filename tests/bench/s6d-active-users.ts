import { join } from 'node:path';
import { memoryBytes } from '../support/process.ts';
import { fillFts5 } from './internals/fts5.ts';
import type { Benchmark, Context } from './kit/benchmark.ts';
import { type SearchGroup, searchDatasetOf, searchUsers } from './kit/dataset.ts';
import { atLeast, atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import { cpuNote, type Figures, loadOf, loadTable, rateRatio } from './kit/measured-load.ts';
import { short, spreadOf } from './kit/numbers.ts';
import { searchOf } from './kit/paths.ts';
import { type Subject, startSubject } from './kit/process.ts';
import { gets, type NextRequest } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { startOn } from './kit/service.ts';
import type { Tree } from './kit/trees.ts';

const memoriesEach = 1_000;
const clients = 8;
const draws = 8_192;
const leastSeconds = 1;
const ofFts5 = 2;
const ofBaseline = 1.5;
const maxMegabytes = 350;

const names = {
  one: 'the service, one client',
  many: `the service, ${clients} clients`,
  fts5One: 'FTS5, one client',
  fts5Many: `FTS5, ${clients} clients`,
  baselineOne: 'the baseline, one client',
  baselineMany: `the baseline, ${clients} clients`,
};
type Name = keyof typeof names;

/** Searches of more users than memory has room for, whose indexes have been stored. */
export const activeUsers: Benchmark = {
  ids: ['S6d'],
  title: 'More active users than memory has room for',
  async run(context) {
    const { rounds, current, baseline, size } = context;
    const group = { memories: memoriesEach, users: Math.ceil(size / memoriesEach) };
    const fts5 = await startFts5(context, group);
    const service = await start(context, current, group);
    const older = await start(context, baseline, group);
    const megabytes: number[] = [];
    const many = measurementOf(context, service, group, clients);
    const figures = await inTurn(rounds, {
      one: measurementOf(context, service, group, 1),
      many: async () => {
        const measured = await many();
        megabytes.push(memoryBytes(service.pid) / 1_000_000);
        return measured;
      },
      fts5One: measurementOf(context, fts5, group, 1),
      fts5Many: measurementOf(context, fts5, group, clients),
      baselineOne: measurementOf(context, older, group, 1),
      baselineMany: measurementOf(context, older, group, clients),
    });
    return section(figures, megabytes, group);
  },
};

async function startFts5({ folder }: Context, group: SearchGroup): Promise<Subject> {
  const path = join(folder, 'fts5.db');
  fillFts5(path, searchDatasetOf([group]));
  return startSubject('internals/fts5', folder, { path });
}

/** Searches once for each user, so that the service stores the users' indexes. */
async function start(context: Context, tree: Tree, group: SearchGroup): Promise<Subject> {
  const subject = await startOn(context, tree, searchDatasetOf([group]));
  const each = searchUsers(group).map(searchOf);
  const all = { connections: 1, seconds: Number.POSITIVE_INFINITY, maxResponses: each.length };
  await load({ url: subject.url, next: gets(each), ...all });
  return subject;
}

function measurementOf(
  { seconds }: Context,
  subject: Subject,
  group: SearchGroup,
  connections: number,
) {
  const next = drawn(searchUsers(group));
  const length = Math.max(leastSeconds, seconds);
  return () => loadOf(subject, { connections, seconds: length, next });
}

/** Searches of users who are drawn at random, all equally often. */
function drawn(users: readonly string[]): NextRequest {
  const userAt = (at: number) => users[Number(Bun.hash(`${at}`) % BigInt(users.length))] ?? '';
  return gets(Array.from({ length: draws }, (_, at) => searchOf(userAt(at), at)));
}

function section(figures: Figures<Name>, megabytes: number[], { users, memories }: SearchGroup) {
  const of = (clients: string, ours: Name, other: Name, what: string, limit: number) => {
    const measure = `searches per second, ${clients}: relative to ${what}`;
    return atLeast('S6d', measure, rateRatio(figures, ours, other), limit, { unit: ' ×' });
  };
  const many = `${clients} clients`;
  const title = `Searches of ${short(users)} users with ${short(memories)} memories each, drawn at random`;
  return {
    goals: [
      of('one client', 'one', 'fts5One', 'FTS5’s', ofFts5),
      of('one client', 'one', 'baselineOne', 'the baseline’s', ofBaseline),
      of(many, 'many', 'fts5Many', 'FTS5’s', ofFts5),
      of(many, 'many', 'baselineMany', 'the baseline’s', ofBaseline),
      atMost('S6d', 'resident memory', spreadOf(megabytes), maxMegabytes, { unit: ' MB' }),
    ],
    tables: [
      loadTable({ title, what: 'searches' }, figures, names, {
        name: 'fts5One',
        title: 'FTS5, one client',
      }),
    ],
    notes: [cpuNote],
  };
}
