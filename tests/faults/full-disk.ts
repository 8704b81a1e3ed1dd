import { join } from 'node:path';
import { find, saveOf, send } from './api.ts';
import type { Figures, Violations } from './harness.ts';
import { type Mount, mountTmpfs, sh } from './mounts.ts';
import { createTarget, startsUp, type Target } from './target.ts';

const megabytes = 6;
const userId = 'full';
const maxStored = 500;

/** Fills a small file system under a running server, then enlarges the file system. */
export async function fillDisk(variants: string[], violations: Violations): Promise<Figures> {
  let mount: Mount;
  try {
    mount = mountTmpfs(megabytes);
  } catch (error) {
    return { fullDisk: `NOT RUN: ${error instanceof Error ? error.message : error}` };
  }
  try {
    await using target = createTarget({ variants, folder: mount.folder });
    await target.start();
    const stored = await saveUntilFull(target, violations);
    await expectHealth(target, 503, violations, 'while the disk is full');
    for (const id of stored) await expectReadable(target, id, violations, 'while the disk is full');
    sh('mount', '-o', `remount,size=${megabytes * 4}m`, mount.folder);
    // The health check must recover without a write.
    await expectHealth(target, 200, violations, 'after space is freed');
    const healedMs = await untilHealed(target, stored, violations);
    await target.kill();
    await target.start();
    for (const id of stored) await expectReadable(target, id, violations, 'after the restart');
    await startFull(target, mount, stored, violations);
    return { storedBeforeDiskFull: stored.length, recoveryMs: healedMs };
  } finally {
    mount.unmount();
  }
}

/**
 * On a full disk, a server must start and serve reads, whether it was killed or stopped. Once space
 * has been freed, it must accept writes.
 */
async function startFull(
  target: Target,
  mount: Mount,
  stored: string[],
  violations: Violations,
): Promise<void> {
  let size = megabytes * 4;
  for (const end of ['kill', 'stop'] as const) {
    await target[end]();
    // Without a count, dd stops when the file system is full.
    Bun.spawnSync(['dd', 'if=/dev/zero', `of=${join(mount.folder, end)}`, 'bs=4096']);
    const when = `after a ${end} and a start on a full disk`;
    if (!(await startsUp(target))) {
      violations.add(`the server does not start ${when}: ${errorIn(target.log())}`);
      return;
    }
    for (const id of stored) await expectReadable(target, id, violations, when);
    stored.push(...(await saveUntilFull(target, violations)));
    await expectHealth(target, 503, violations, when);
    size += megabytes;
    sh('mount', '-o', `remount,size=${size}m`, mount.folder);
    await untilHealed(target, stored, violations);
    await expectHealth(target, 200, violations, `after space is freed ${when}`);
  }
  await target.kill();
  await target.start();
  for (const id of stored) await expectReadable(target, id, violations, 'after the last restart');
}

function errorIn(log: string): string {
  return log.match(/^\w*error: .*/im)?.[0] ?? log.slice(0, 200);
}

async function saveUntilFull(target: Target, violations: Violations): Promise<string[]> {
  const stored: string[] = [];
  for (let refused = 0; refused < 10; ) {
    const reply = await save(target, stored.length);
    if (reply?.status === 201) {
      stored.push((JSON.parse(reply.text) as { id: string }).id);
      if (stored.length <= maxStored) continue;
      violations.add(
        `more than ${maxStored} saves of 28 kB were accepted on a file system of ${megabytes} MB`,
      );
      break;
    }
    refused += 1;
    const clear = reply?.status === 503 && /disk is full/.test(reply.text);
    if (!clear) violations.add(`save on a full disk: ${reply?.status} ${reply?.text}`);
    if (!reply?.headers.has('retry-after')) violations.add('save on a full disk: no Retry-After');
  }
  return stored;
}

async function untilHealed(
  target: Target,
  stored: string[],
  violations: Violations,
): Promise<number> {
  const begun = performance.now();
  while (performance.now() - begun < 5_000) {
    const reply = await save(target, stored.length);
    if (reply?.status === 201) {
      stored.push((JSON.parse(reply.text) as { id: string }).id);
      return Math.round(performance.now() - begun);
    }
    await Bun.sleep(50);
  }
  violations.add('writes still fail 5 seconds after space has been freed');
  return -1;
}

async function expectHealth(
  target: Target,
  wanted: number,
  violations: Violations,
  when: string,
): Promise<void> {
  const get = () => send(target, { method: 'GET', path: '/health' });
  let reply = await get();
  // The service probes the disk every 500 ms.
  for (let n = 0; n < 50 && reply?.status !== wanted; n += 1) {
    await Bun.sleep(100);
    reply = await get();
  }
  const isExplained = wanted === 200 || /disk is full/.test(reply?.text ?? '');
  if (reply?.status !== wanted || !isExplained) {
    violations.add(`/health ${when}: ${reply?.status} ${reply?.text}`);
  }
}

function save(target: Target, index: number) {
  return send(target, saveOf(userId, `${index} ${'fill the disk '.repeat(2_000)}`));
}

async function expectReadable(
  target: Target,
  id: string,
  violations: Violations,
  when: string,
): Promise<void> {
  const memory = await find(target, id).catch(() => null);
  if (memory === null) violations.add(`${id} cannot be read ${when}`);
}
