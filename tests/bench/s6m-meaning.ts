import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConversations } from '../eval/data.ts';
import { memoryBytes } from '../support/process.ts';
import type { Benchmark, Context, Goal, Section } from './kit/benchmark.ts';
import { fetchText, postJson } from './kit/client.ts';
import { importDataset } from './kit/databases.ts';
import { type Dataset, searchDatasetOf, searchUsers, tableOf, textOf } from './kit/dataset.ts';
import { atLeast, atMost } from './kit/goals.ts';
import { load } from './kit/load.ts';
import { ratioOf, showCount, showRatio, spreadOf } from './kit/numbers.ts';
import { firstPage, searchPath } from './kit/paths.ts';
import type { Subject } from './kit/process.ts';
import { gets, type NextRequest, saves } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';
import { startService } from './kit/service.ts';

/** More than the service keeps vectors of, so that each question must be embedded. */
const questionCount = 600;
const newMemories = 4;
const askedAtOnce = 100;
const pollMs = 100;
/** Each save is work for the background that must end before the next measurement. */
const mostSaves = 500;

type Name = 'words' | 'meaning' | 'backlog';
/** The p50 of each request, in ms. */
type Measured = Record<'search' | 'save' | 'list', number>;

/** Searches with the built-in model, and what its background work costs other requests. */
export const meaning: Benchmark = {
  ids: ['S6m', 'S14'],
  title: 'Search by meaning',
  async run(context) {
    const { quick, rounds } = context;
    const group = { memories: quick ? 1_000 : 10_000, users: 1 };
    const backlog = tableOf(quick ? 20_000 : 100_000);
    const [userId = ''] = searchUsers(group);
    const database = await embeddedCopy(context, searchDatasetOf([group]), userId);
    const words = await start(context, database, 'off');
    const meaning = await start(context, database, 'local');
    const busy = await start(context, database, 'local');
    const atOnce = await searchesAtOnce(meaning);
    await importDataset(busy.url, backlog);
    pause(busy);
    const inMeaning = measurementOf(context, meaning, userId);
    const inBusy = measurementOf(context, busy, userId);
    const measured = await inTurn(rounds, {
      words: measurementOf(context, words, userId),
      meaning: async () => {
        const figures = await inMeaning();
        await embedded(meaning);
        return figures;
      },
      backlog: async () => {
        process.kill(busy.pid, 'SIGCONT');
        const figures = await inBusy();
        if ((await toEmbed(busy)) === 0) throw new Error('the backlog was too short');
        pause(busy);
        return figures;
      },
    });
    process.kill(busy.pid, 'SIGCONT');
    const extra = (memoryBytes(meaning.pid) - memoryBytes(words.pid)) / 1_000_000;
    return section(measured, { atOnce, extra, memories: group.memories, backlog });
  },
};

/** Returns the path of a database in which all of the user's memories have vectors. */
async function embeddedCopy(context: Context, dataset: Dataset, userId: string): Promise<string> {
  const { folder, current, copyOf } = context;
  const database = await copyOf(current, dataset);
  const env = { MEMORY_EMBEDDINGS: 'local' };
  const service = await startService(folder, { tree: current, database, env });
  while ((await meaningOf(service, userId, 'garage')) !== 'used') await Bun.sleep(pollMs);
  await service.stop();
  return database;
}

/** Starts the service on a copy of the database. */
async function start(context: Context, filled: string, model: string): Promise<Subject> {
  const { folder, current } = context;
  const database = join(folder, `${crypto.randomUUID()}.db`);
  copyFileSync(filled, database);
  return startService(folder, { tree: current, database, env: { MEMORY_EMBEDDINGS: model } });
}

/** Stops the service while another one is measured, because its backlog would use a core. */
function pause({ pid }: Subject): void {
  process.kill(pid, 'SIGSTOP');
}

/** Continues with other questions in each round. */
function measurementOf({ seconds }: Context, { url }: Subject, userId: string) {
  const asked = gets(questions().map((query) => searchPath(userId, query)));
  const p50 = async (next: NextRequest, maxResponses?: number) =>
    (await load({ url, connections: 1, seconds, maxResponses, next })).p50Ms;
  return async (): Promise<Measured> => {
    // The first search updates the user's index after the saves of the previous round.
    await fetchText(url, searchPath(userId, 'garage'));
    const search = await p50(asked);
    const list = await p50(gets([firstPage(userId)]));
    return { search, list, save: await p50(saves(), mostSaves) };
  };
}

/** Returns different questions, always in the same order. */
function questions(): string[] {
  const asked = readConversations().questions.map(({ text }) => text);
  return Array.from({ length: questionCount }, (_, at) => {
    const about = textOf(at, 40).split(' ').slice(1, 3).join(' ');
    return `${asked[at % asked.length]} ${about}`;
  });
}

async function toEmbed({ url }: Subject): Promise<number> {
  const health = JSON.parse(await fetchText(url, '/health'));
  return (health as { embeddings: { pending: number } }).embeddings.pending;
}

async function embedded(subject: Subject): Promise<void> {
  while ((await toEmbed(subject)) > 0) await Bun.sleep(pollMs);
}

async function meaningOf({ url }: Subject, userId: string, query: string): Promise<string> {
  return JSON.parse(await fetchText(url, searchPath(userId, query))).meaning;
}

/** Returns the share of the searches right after four saves that compare all meanings. */
async function searchesAtOnce(subject: Subject): Promise<number> {
  let used = 0;
  for (const [at, query] of questions().slice(0, askedAtOnce).entries()) {
    const userId = `at-once-${at}`;
    for (let n = 0; n < newMemories; n += 1) {
      const content = textOf(at * newMemories + n, 100);
      await postJson(subject.url, '/v1/memories', { userId, content });
    }
    if ((await meaningOf(subject, userId, query)) === 'used') used += 1;
  }
  return used / askedAtOnce;
}

/** `extra` is the additional memory of the service with a model, in MB. */
type Run = { atOnce: number; extra: number; memories: number; backlog: Dataset };

function section(
  measured: Record<Name, Measured[]>,
  { atOnce, extra, memories, backlog }: Run,
): Section {
  const of = (name: Name, request: keyof Measured) => measured[name].map((one) => one[request]);
  const beside = `beside a backlog of ${showCount(backlog.count)}`;
  const search = `search of ${showCount(memories)} memories by meaning, new questions`;
  const ms = (name: Name) => spreadOf(of(name, 'search'));
  const cost = (request: 'save' | 'list', name: 'meaning' | 'backlog'): Goal => {
    const ratio = ratioOf(of(name, request), of('words', request));
    const when = name === 'meaning' ? 'with the built-in model' : beside;
    return atMost('S14', `${request} ${when}: p50, relative to no model`, ratio, 1.1);
  };
  const row = (name: Name, title: string) => [
    title,
    ...(['search', 'save', 'list'] as const).map((one) => showRatio(spreadOf(of(name, one)))),
  ];
  return {
    goals: [
      atMost('S6m', `${search}: p50`, ms('meaning'), 10, { unit: ' ms' }),
      atLeast('S6m', 'searches right after four saves that use meaning', spreadOf([atOnce]), 1),
      atMost(
        'S6m',
        'resident memory after these searches, above that without a model',
        spreadOf([extra]),
        70,
        { unit: ' MB' },
      ),
      atMost('S14', `${search}, ${beside}: p50`, ms('backlog'), 20, { unit: ' ms' }),
      atMost(
        'S14',
        `${search}, ${beside}: relative to none`,
        ratioOf(of('backlog', 'search'), of('meaning', 'search')),
        2,
      ),
      cost('save', 'meaning'),
      cost('save', 'backlog'),
      cost('list', 'backlog'),
    ],
    tables: [
      {
        title: 'Median times in ms, one connection',
        head: ['', 'search', 'save', 'list'],
        rows: [
          row('words', 'without a model'),
          row('meaning', 'with the built-in model'),
          row('backlog', `with the built-in model, ${beside}`),
        ],
      },
    ],
  };
}
