import { Database } from 'bun:sqlite';
import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { median, short } from './numbers.ts';

const fileSystems: Record<number, string> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs, which is not a disk',
  2035054128: 'overlay',
};

/** What the figures depend on. */
export async function describeMachine(folder: string): Promise<[string, string][]> {
  const [cpu] = cpus();
  const sqlite = new Database(':memory:').prepare('SELECT sqlite_version() AS version').get();
  const commit = await output(['git', 'rev-parse', '--short', 'HEAD']);
  const changed = (await output(['git', 'status', '--porcelain', 'server', 'sdk'])) !== '';
  const fileSystem = fileSystems[statfsSync(folder).type] ?? 'unknown';
  return [
    ['processor', `${cpus().length} cores, ${cpu?.model.trim() ?? 'unknown'}`],
    ['memory', `${short(totalmem() / 2 ** 30)} GiB`],
    ['disk', `${fileSystem}; a write of 4 KiB with fdatasync: ${short(syncMs(folder))} ms`],
    ['system', `${process.platform} ${release()}`],
    ['Bun', Bun.version],
    ['SQLite', (sqlite as { version: string }).version],
    ['Node, for the rivals', await output(['node', '--version'])],
    ['commit', `${commit}${changed ? ', with changes' : ''}`],
    ['date', new Date().toISOString().slice(0, 10)],
  ];
}

/** What the disk itself takes to make a small write durable: no commit can be faster. */
function syncMs(folder: string): number {
  const path = join(folder, 'sync');
  const file = openSync(path, 'w');
  const page = new Uint8Array(4_096);
  const times = Array.from({ length: 50 }, () => {
    const begun = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - begun;
  });
  closeSync(file);
  rmSync(path);
  return median(times);
}

async function output(command: string[]): Promise<string> {
  try {
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore' });
    return (await new Response(child.stdout).text()).trim();
  } catch {
    return 'none';
  }
}
