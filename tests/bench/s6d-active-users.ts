import { join } from 'node:path';
import { memoryBytes } from '../support/process.ts';
import { fillFts5 } from './internals/fts5.ts';
import type { Benchmark, Context } from './kit/benchmark.ts';
import { manyClients, measureClients, oneClient } from './kit/clients.ts';
import { type SearchGroup, searchDatasetOf, searchUsers } from './kit/dataset.ts';
import { atLeast, atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import { cpuNote, loadTable, rateRatio } from './kit/measured-load.ts';
import { short, spreadOf } from './kit/numbers.ts';
import { searchOf } from './kit/paths.ts';
import { type Subject, startSubject } from './kit/process.ts';
import { gets, type NextRequest } from './kit/requests.ts';
import { startOn } from './kit/service.ts';
import type { Tree } from './kit/trees.ts';

const memoriesEach = 1_000;
const draws = 8_192;
const leastSeconds = 1;
const ofFts5 = 2;
const ofBaseline = 1.5;
const maxMegabytes = 350;

/** Searches of more users than memory has room for, whose indexes have been stored. */
export const activeUsers: Benchmark = {
  ids: ['S6d'],
  title: 'More active users than memory has room for',
  async run(context) {
    const { rounds, current, baseline, size } = context;
    const group = { memories: memoriesEach, users: Math.ceil(size / memoriesEach) };
    const service = await start(context, current, group);
    const subjects = {
      'the service': service,
      FTS5: await startFts5(context, group),
      'the baseline': await start(context, baseline, group),
    };
    const timing = { rounds, seconds: Math.max(leastSeconds, context.seconds) };
    const nextOf = () => drawn(searchUsers(group));
    const megabytes: number[] = [];
    const { figures, names } = await measureClients(timing, subjects, nextOf, (subject) => {
      if (subject === service) megabytes.push(memoryBytes(service.pid) / 1_000_000);
    });
    const of = (number: string, other: string, limit: number) => {
      const measure = `searches per second, ${number}: relative to ${other}’s`;
      const rate = rateRatio(figures, `the service, ${number}`, `${other}, ${number}`);
      return atLeast('S6d', measure, rate, limit, { unit: ' ×' });
    };
    const ofAll = `${short(group.users)} users with ${short(memoriesEach)} memories each`;
    const about = { title: `Searches of ${ofAll}, drawn at random`, what: 'searches' };
    const reference = `FTS5, ${oneClient}`;
    return {
      goals: [
        ...[oneClient, manyClients].flatMap((number) => [
          of(number, 'FTS5', ofFts5),
          of(number, 'the baseline', ofBaseline),
        ]),
        atMost('S6d', 'resident memory', spreadOf(megabytes), maxMegabytes, { unit: ' MB' }),
      ],
      tables: [loadTable(about, figures, names, { name: reference, title: reference })],
      notes: [cpuNote],
    };
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

/** Searches of users who are drawn at random, all equally often. */
function drawn(users: readonly string[]): NextRequest {
  const userAt = (at: number) => users[Number(Bun.hash(`${at}`) % BigInt(users.length))] ?? '';
  return gets(Array.from({ length: draws }, (_, at) => searchOf(userAt(at), at)));
}
