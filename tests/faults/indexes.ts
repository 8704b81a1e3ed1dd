import { Database } from 'bun:sqlite';
import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Health } from '../../sdk/contract/status.ts';
import { newWholeDatabase, query } from '../support/postgres.ts';
import { createRandom, type Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { type Call, read, send, sendOrThrow } from './api.ts';
import type { Figures, Harness, Run } from './harness.ts';
import { createTarget, type Target } from './target.ts';

const kills = { quick: 4, full: 80, control: 10 };
/** The least number of kills between the first and the last row, which test the promise. */
const leastPartly = { quick: 1, full: 50, control: 0 };
const users = ['ada', 'ben', 'cleo'];
/** Stored before the kills, enough for a snapshot and a part with vectors. */
const memories = 250;
/** Added later, enough to replace the snapshot and to store another part. */
const added = 210;
/** The rows that a round stores: each user's snapshot and second part. */
const rows = 2 * users.length;
const killWithinMs = 5;
const env = { MEMORY_EMBEDDINGS: 'local' };
const vocabulary =
  'lantern harbour kettle walrus garden winter coffee doctor invoice refund delivery'.split(' ');
const questions = ['garden', 'walrus kettle', 'Who paid for the delivery in winter?'];

export const indexes: Harness = {
  id: 'P36',
  promise: 'A crash while a search index or vectors are being stored changes no search result',
  proof:
    `${users.length} users with ${memories} memories in the stored index and ${added} others are ` +
    'searched, so that indexes and vectors are stored again; the server is killed with SIGKILL at ' +
    'a random moment, after a random number of rows; after a restart, each search must return ' +
    'what a server without stored rows returns; on SQLite, and in a full run also on PostgreSQL',
  control: {
    without: 'the one transaction and the checksum that bind an index to the changes in it',
    variants: ['split-snapshot'],
  },
  run,
};

async function run(run: Run): Promise<Figures> {
  const sqlite = await killWhileStoring(run, await fillSqlite(run));
  // The control, which is a quick run, depends on how the only writer of SQLite commits.
  if (run.tier === 'quick') return { kills: sqlite.kills, partlyStored: sqlite.partly };
  await using database = await newWholeDatabase();
  const postgres = await killWhileStoring(run, await fillPostgres(database));
  return {
    kills: sqlite.kills,
    partlyStored: sqlite.partly,
    killsOnPostgres: postgres.kills,
    partlyStoredOnPostgres: postgres.partly,
  };
}

/** Runs a statement. Returns the first column of the first row. */
type Sql = (text: string) => Promise<number>;

/** Runs `work` with a server on a copy of the filled database. The server is not started yet. */
type OnCopy = (
  variants: string[],
  work: (target: Target, sql: Sql) => Promise<void>,
) => Promise<void>;

async function killWhileStoring(run: Run, onCopy: OnCopy) {
  const { variants, random, violations } = run;
  const tier = variants.length > 0 ? 'control' : run.tier;
  const counts = { kills: 0, partly: 0 };
  let expected: string[] = [];
  await onCopy([], async (target, sql) => {
    await sql('DELETE FROM snapshots');
    await sql('DELETE FROM vector_parts');
    await target.start();
    expected = await searchAll(target);
  });
  for (; counts.kills < kills[tier]; counts.kills += 1) {
    await onCopy(variants, async (target, sql) => {
      await target.start();
      const stored = await killWhileItStores(target, sql, random);
      if (stored > 0 && stored < rows) counts.partly += 1;
      await target.start();
      const found = await searchAll(target);
      const differing = found.filter((answer, index) => answer !== expected[index]).length;
      if (differing === 0) return;
      violations.add(`with ${stored} of ${rows} rows stored, ${differing} searches differ`);
    });
  }
  if (counts.partly < leastPartly[tier]) {
    violations.add(`only ${counts.partly} kills came while indexes were being stored`);
  }
  return counts;
}

/** Kills the server after some of the rows have been stored. Returns how many have been. */
async function killWhileItStores(target: Target, sql: Sql, random: Random): Promise<number> {
  const [question = ''] = questions;
  const stored = async () => (await storedRows(sql)) - users.length;
  const searches = users.map((userId) => search(target, userId, question));
  const least = random.between(1, rows - 1);
  await Promise.race(searches);
  await until(async () => (await stored()) >= least, { what: 'stored rows' });
  await Bun.sleep(random.next() * killWithinMs);
  await target.kill();
  await Promise.all(searches);
  return stored();
}

async function searchAll(target: Target): Promise<string[]> {
  const found: string[] = [];
  for (const userId of users) {
    for (const question of questions) found.push(await search(target, userId, question));
  }
  return found;
}

/** Repeats the search while the model is still being loaded. */
function search(target: Target, userId: string, question: string): Promise<string> {
  return until(async () => {
    const reply = await send(target, searchOf(userId, question));
    return reply?.text.includes('"meaning":"unavailable"')
      ? null
      : `${reply?.status} ${reply?.text}`;
  });
}

function searchOf(userId: string, question: string): Call {
  const query = new URLSearchParams({ userId, query: question, limit: '100' });
  return { method: 'GET', path: `/v1/memories/search?${query}` };
}

/** How many rows of stored indexes are complete: of snapshots, and with vectors. */
function storedRows(sql: Sql): Promise<number> {
  return sql(
    `SELECT (SELECT count(*) FROM users WHERE snapshot_change = last_change)
       + (SELECT count(*) FROM vector_parts)`,
  );
}

type Filled = { target: Target; sql: Sql };

/** Creates the memories, of which the first are in the stored indexes. */
async function fill({ target, sql }: Filled): Promise<void> {
  await target.start();
  for (const userId of users) await ingest(target, userId, 0, memories);
  await searchAll(target);
  await until(async () => (await storedRows(sql)) === 2 * users.length, { what: 'the indexes' });
  await target.stop();
  for (const userId of users) {
    // Half a minute after its start, a server stores indexes that nobody searches.
    await target.start();
    await ingest(target, userId, memories, memories + added);
    await target.stop();
  }
  if ((await storedRows(sql)) !== users.length) throw new Error('the indexes are stored already');
}

/** Ingests texts and waits for their vectors. */
async function ingest(target: Target, userId: string, from: number, to: number): Promise<void> {
  const random = createRandom(from).fork(userId);
  const items = Array.from({ length: to - from }, (_, index) => {
    const text = Array.from({ length: 8 }, () => random.pick(vocabulary)).join(' ');
    return { userId, type: 'document', data: { text: `${from + index} ${text}` } };
  });
  const call = { method: 'POST' as const, path: '/v1/ingest/batch', body: { items } };
  await sendOrThrow(target, { ...call, idempotencyKey: `${userId}-${from}` });
  const isDone = async () => {
    const { pending, embeddings } = await read<Health>(target, '/health');
    return pending === 0 && embeddings.pending === 0;
  };
  await until(isDone, { what: 'the vectors' });
}

async function fillSqlite({ folder, variants }: Run): Promise<OnCopy> {
  const filled = join(folder, 'filled');
  mkdirSync(filled);
  const target = createTarget({ variants, env, folder: filled });
  await fill({ target, sql: sqliteOf(target.path) });
  return async (changes, work) => {
    await using copy = createTarget({ variants: changes, env });
    cpSync(filled, dirname(copy.path), { recursive: true });
    await work(copy, sqliteOf(copy.path));
  };
}

function sqliteOf(path: string): Sql {
  return async (text) => {
    // A connection that can write would repair the file before the server does.
    const isRead = text.startsWith('SELECT');
    const db = new Database(path, isRead ? { readonly: true } : { readwrite: true });
    const [row = []] = db.prepare(text).values();
    db.close(true);
    return Number(row[0]);
  };
}

async function fillPostgres({ name, url }: { name: string; url: string }): Promise<OnCopy> {
  await using target = createTarget({ env, databaseUrl: url });
  await fill({ target, sql: postgresOf(url) });
  return async (variants, work) => {
    await using database = await newWholeDatabase(`TEMPLATE ${name}`);
    await using copy = createTarget({ variants, env, databaseUrl: database.url });
    await work(copy, postgresOf(database.url));
  };
}

function postgresOf(url: string): Sql {
  return async (text) => {
    const [row = {}] = await query(url, text);
    return Number(Object.values(row)[0]);
  };
}
