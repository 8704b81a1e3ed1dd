import { until } from '../support/until.ts';
import { find, saveOf, send } from './api.ts';
import type { Figures, Violations } from './harness.ts';
import { type Mount, mountTmpfs, sh } from './mounts.ts';
import { createTarget, type Target } from './target.ts';

const megabytes = 6;
const maxStored = 500;
const refusedSaves = 10;
const withinMs = 5_000;

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
    await expectHealth(target, 503, /disk is full/, violations);
    await expectReadable(target, stored, violations, 'while the disk is full');
    sh('mount', '-o', `remount,size=${megabytes * 4}m`, mount.folder);
    // The health check must recover without a write.
    await expectHealth(target, 200, /"ok"/, violations);
    const last = await save(target);
    if (last?.status === 201) stored.push(idIn(last.text));
    else violations.add(`save after space was freed: ${last?.status} ${last?.text}`);
    await target.kill();
    await target.start();
    await expectReadable(target, stored, violations, 'after the restart');
    return { storedBeforeDiskFull: stored.length - 1 };
  } finally {
    mount.unmount();
  }
}

async function saveUntilFull(target: Target, violations: Violations): Promise<string[]> {
  const stored: string[] = [];
  for (let refused = 0; refused < refusedSaves && stored.length < maxStored; ) {
    const reply = await save(target);
    if (reply?.status === 201) {
      stored.push(idIn(reply.text));
      continue;
    }
    refused += 1;
    const isClear = reply?.status === 503 && /disk is full/.test(reply.text);
    if (!isClear || !reply.headers.has('retry-after'))
      violations.add(`save on a full disk: ${reply?.status} ${reply?.text}`);
  }
  if (stored.length === maxStored)
    violations.add(`${megabytes} MB held ${maxStored} saves of 28 kB`);
  return stored;
}

/** Waits, because the service probes the disk every 500 ms. */
async function expectHealth(
  target: Target,
  status: number,
  text: RegExp,
  violations: Violations,
): Promise<void> {
  const isExpected = async () => {
    const reply = await send(target, { method: 'GET', path: '/health' });
    return reply?.status === status && text.test(reply.text);
  };
  const what = `/health to return ${status} ${text}`;
  await until(isExpected, { timeoutMs: withinMs, what }).catch((error) =>
    violations.add(`${error}`),
  );
}

function save(target: Target) {
  return send(target, saveOf('full', 'fill the disk '.repeat(2_000)));
}

function idIn(text: string): string {
  return (JSON.parse(text) as { id: string }).id;
}

async function expectReadable(
  target: Target,
  ids: string[],
  violations: Violations,
  when: string,
): Promise<void> {
  for (const id of ids) {
    const memory = await find(target, id).catch(() => null);
    if (memory === null) violations.add(`${id} cannot be read ${when}`);
  }
}
