import { Database } from 'bun:sqlite';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Dataset, tableOf } from '../bench/kit/dataset.ts';
import { fill } from '../bench/kit/fill.ts';
import { currentTree } from '../bench/kit/trees.ts';
import { newDatabase, postgresUrl, query } from '../support/postgres.ts';
import { startChild } from '../support/process.ts';
import { createRandom } from '../support/random.ts';
import { createViolations } from './harness.ts';

/*
 *   bun tests/faults/migrate.ts [memories]
 *
 * Copies a database, by default with a million memories, to PostgreSQL and back with
 * `memory migrate`. Kills the command twice during each copy. After each kill, the recorded
 * progress must match the copied rows. Verifies each finished copy, then changes one byte and
 * checks that `--verify` finds the change.
 */

const count = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const random = createRandom(seed);
const violations = createViolations();
const folder = mkdtempSync(join(tmpdir(), 'memory-migrate-'));
const source = join(folder, 'source.db');
const back = join(folder, 'back.db');

/** The target of a copy. Its contents are read with plain SQL, without the service's own code. */
type Target = {
  url: string;
  /** Returns the first row, or null if the query fails, for example before the tables exist. */
  ask(text: string): Promise<Record<string, unknown> | null>;
  run(text: string): Promise<void>;
};

type Report = {
  copiedRows: number;
  isEqual: boolean;
  items: { table: string; isEqual: boolean }[];
};
type Run = { code: number | null; seconds: number; megabytes: number; report: Report | null };

/** The service stores the first copy of the data. SQL adds the remaining copies for new users. */
const copies = 20;

/** A quarter of the memories have the status `failed`, which is stored in their tasks. */
function dataset(): Dataset {
  const { memoryAt, ...table } = tableOf(Math.ceil(count / copies));
  return {
    ...table,
    memoryAt: (at) => ({ ...memoryAt(at), status: at % 4 === 0 ? 'failed' : 'complete' }),
  };
}

/** Copies the rows of all users for new users. This is faster than saving through the service. */
function multiply(path: string): void {
  const db = new Database(path);
  /** Copies the rows that match `first`, with new values for the columns in `changed`. */
  function insert(table: string, first: string, changed: Record<string, string>): void {
    const info = db.prepare<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`);
    const names = info.all().map(({ name }) => name);
    const values = names.map((name) => changed[name] ?? name);
    db.run(`INSERT INTO ${table} (${names}) SELECT ${values} FROM ${table} WHERE ${first}`);
  }
  db.run('BEGIN');
  for (let copy = 1; copy < copies; copy += 1) {
    const user_id = `user_id || '~${copy}'`;
    const isFirst = `user_id NOT LIKE '%~%'`;
    insert('users', isFirst, { user_id });
    insert('memories', isFirst, { user_id, id: `id || '-${copy}'` });
    insert('tasks', isFirst, { user_id, memory_id: `memory_id || '-${copy}'` });
  }
  db.run('COMMIT');
  db.close(true);
}

const program = [process.execPath, join(import.meta.dir, '../../cli/main.ts'), 'migrate', '--json'];

/** Runs the command until it exits, or kills it once the share `killAt` of memories is copied. */
async function run(from: string, target: Target, more: string[], killAt?: number): Promise<Run> {
  const output = join(folder, 'output');
  const command = [...program, '--from', from, '--to', target.url, ...more];
  const begun = performance.now();
  const child = startChild(['sh', '-c', `exec "$0" "$@" > '${output}'`, ...command]);
  let megabytes = 0;
  while (child.running()) {
    megabytes = Math.max(megabytes, peakMegabytes(child.pid));
    if (killAt !== undefined && (await copied(target)) >= killAt * count) {
      await child.end('SIGKILL');
    }
    await Promise.race([child.exited, Bun.sleep(100)]);
  }
  const seconds = (performance.now() - begun) / 1_000;
  const [line = ''] = readFileSync(output, 'utf8').split('\n');
  if (line === '' && killAt === undefined) console.log(child.log());
  return {
    code: await child.exited,
    seconds,
    megabytes,
    report: line.startsWith('{"from"') ? JSON.parse(line) : null,
  };
}

function peakMegabytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  const [, kilobytes = '0'] = existsSync(status)
    ? (/VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8')) ?? [])
    : [];
  return Number(kilobytes) / 1_024;
}

async function copied(target: Target): Promise<number> {
  const row = await target.ask('SELECT progress FROM copy_progress');
  return row === null ? 0 : (JSON.parse(String(row.progress)).memories?.rows ?? 0);
}

async function assertWholeBatches(target: Target, before: number): Promise<number> {
  const noted = await copied(target);
  const row = await target.ask('SELECT count(*) AS n FROM memories');
  if (Number(row?.n) !== noted)
    violations.add(`${row?.n} memories are stored, but the recorded progress is ${noted}`);
  if (noted < before)
    violations.add(`the progress fell from ${before} to ${noted} memories after a kill`);
  return noted;
}

async function move(name: string, from: string, target: Target): Promise<void> {
  let rowsBefore = 0;
  for (const share of [random.between(10, 40) / 100, random.between(50, 90) / 100]) {
    const { code, seconds } = await run(from, target, [], share);
    if (code !== null)
      violations.add(`${name}: the command exited with code ${code} before it was killed`);
    rowsBefore = await assertWholeBatches(target, rowsBefore);
    console.log(`${name}: killed after ${seconds.toFixed(1)} s with ${rowsBefore} memories copied`);
  }
  const last = await run(from, target, []);
  if (last.code !== 0 || last.report?.isEqual !== true)
    violations.add(`${name}: the copy differs from the source`);
  show(`${name}: remaining rows copied and compared`, last);
  show(`${name}: verified`, await verify(name, from, target));
  await changeOneByte(name, from, target);
}

/** Changes one byte of a memory, checks that `--verify` finds the change, and restores the byte. */
async function changeOneByte(name: string, from: string, target: Target): Promise<void> {
  const offset = random.between(0, count);
  const row = await target.ask(
    `SELECT id, substr(content, 1, 1) AS first FROM memories LIMIT 1 OFFSET ${offset}`,
  );
  const begin = (letter: string) =>
    target.run(
      `UPDATE memories SET content = '${letter.replace("'", "''")}' || substr(content, 2)
       WHERE id = '${row?.id}'`,
    );
  await begin(row?.first === '~' ? '-' : '~');
  const changed = await run(from, target, ['--verify']);
  const different = changed.report?.items.filter(({ isEqual }) => !isEqual) ?? [];
  const isFound =
    changed.code === 1 && different.length === 1 && different[0]?.table === 'memories';
  if (!isFound) violations.add(`${name}: --verify did not find the changed byte of ${row?.id}`);
  show(`${name}: a changed byte ${isFound ? 'found' : 'NOT FOUND'}`, changed);
  await begin(String(row?.first));
}

async function verify(name: string, from: string, target: Target): Promise<Run> {
  const verified = await run(from, target, ['--verify']);
  if (verified.code !== 0) violations.add(`${name}: --verify exited with code ${verified.code}`);
  return verified;
}

function show(what: string, { seconds, megabytes, report }: Run): void {
  const copiedRows = report?.copiedRows ?? 0;
  const rows = copiedRows === 0 ? '' : `, ${copiedRows} rows copied`;
  console.log(`${what}: ${seconds.toFixed(1)} s, ${Math.round(megabytes)} MB${rows}`);
}

/** Returns a target that runs its queries in the schema given by the URL. */
async function postgresTarget(url: string): Promise<Target> {
  const schema = new URL(url).searchParams.get('search_path') ?? '';
  const base = await postgresUrl();
  const within = (text: string) =>
    text.replace(/\b(memories|copy_progress)\b(?= SET|$| LIMIT| WHERE)/, `${schema}.$1`);
  return {
    url,
    ask: async (text) => (await query(base, within(text)).catch(() => []))[0] ?? null,
    run: async (text) => void (await query(base, within(text))),
  };
}

function sqliteTarget(path: string): Target {
  function open<T>(work: (db: Database) => T): T {
    const db = new Database(path, { readwrite: true });
    try {
      return work(db);
    } finally {
      db.close(true);
    }
  }
  return {
    url: `sqlite:${path}`,
    async ask(text) {
      if (!existsSync(path)) return null;
      try {
        return open((db) => db.prepare<Record<string, unknown>, []>(text).get());
      } catch {
        return null;
      }
    },
    run: async (text) => void open((db) => db.run(text)),
  };
}

console.log(`${count} memories, seed ${seed}; FAULTS_SEED=${seed} repeats this run`);
const database = await newDatabase();
try {
  await fill(folder, currentTree, source, dataset());
  multiply(source);
  console.log(`filled: ${Math.round(Bun.file(source).size / 1_048_576)} MB`);
  await move('to PostgreSQL', `sqlite:${source}`, await postgresTarget(database.url));
  await move('to SQLite', database.url, sqliteTarget(back));
} finally {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
}
for (const violation of violations.list()) console.log(`violation: ${violation}`);
console.log(violations.count() === 0 ? 'every copy is equal to its source and verified' : 'FAILED');
if (violations.count() > 0) process.exitCode = 1;
