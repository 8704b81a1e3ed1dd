import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './postgres.ts';
import { newPrimary } from './postgres-pair.ts';
import { isAlive } from './postgres-program.ts';

/*
 * Runs one PostgreSQL server for all test processes. Each process holds a connection to the socket.
 * The server stops `idleMs` after the last connection has closed.
 */

const idleMs = 10_000;
const folder = folderOf();
const lock = join(folder, 'pid');
const socket = join(folder, 'socket');

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

async function serve(): Promise<void> {
  rmSync(socket, { force: true });
  const starting = newPrimary({ log: 'inherit' });
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
    await starting.then((node) => node[Symbol.asyncDispose]()).catch(() => {});
    process.exit(0);
  }
}

if (acquireLock()) await serve();
