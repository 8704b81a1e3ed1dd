import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from './benchmark.ts';
import { postJson } from './client.ts';
import type { Dataset, Imported } from './dataset.ts';
import { short } from './numbers.ts';
import { startService } from './service.ts';
import type { Tree } from './trees.ts';

/** The maximum number of memories that the import endpoint accepts in one request. */
const perRequest = 1_000;
/** With two senders, one request is built while the service stores the other. */
const senders = 2;

/**
 * Creates each database when a benchmark first requests it. With --data, `folder` keeps the
 * databases for the next run. `scratch` is deleted after the run.
 */
export function createDatabases(
  folder: string,
  scratch: string,
  say: (text: string) => void,
): Pick<Context, 'database' | 'copyOf'> {
  mkdirSync(folder, { recursive: true });
  let copies = 0;

  async function database(tree: Tree, dataset: Dataset): Promise<string> {
    const path = join(folder, `${tree.slug}-${dataset.name}.db`);
    // The marker is written last. Without the marker, the database is missing or incomplete.
    const marker = `${path}.filled`;
    if (existsSync(marker)) return path;
    const begun = performance.now();
    // The contents are exactly what a running service stores.
    const env = { LOG_LEVEL: 'warn' };
    const service = await startService(scratch, { tree, database: path, env });
    await importDataset(service.url, dataset);
    await service.stop();
    writeFileSync(marker, '');
    const seconds = (performance.now() - begun) / 1_000;
    const rate = `${short(dataset.count / seconds)} memories per second`;
    say(`  filled ${dataset.name} for ${tree.name} in ${short(seconds)} s: ${rate}`);
    return path;
  }

  async function copyOf(tree: Tree, dataset: Dataset): Promise<string> {
    const from = await database(tree, dataset);
    copies += 1;
    const path = join(scratch, `copy-${copies}.db`);
    for (const suffix of ['', '-wal']) {
      if (existsSync(from + suffix)) copyFileSync(from + suffix, path + suffix);
    }
    return path;
  }

  return { database, copyOf };
}

/**
 * Imports the memories in order, except that the requests of the two senders overlap. The import
 * skips memories that exist already.
 */
export async function importDataset(
  url: string,
  { count, memoryAt }: Dataset,
  key?: string,
): Promise<void> {
  let next = 0;
  async function send(): Promise<void> {
    while (next < count) {
      const from = next;
      next = Math.min(count, from + perRequest);
      const items: Imported[] = [];
      for (let at = from; at < next; at += 1) items.push(memoryAt(at));
      const text = await postJson(url, '/v1/import', { items }, key);
      const { failedCount } = JSON.parse(text) as { failedCount: number };
      if (failedCount > 0) throw new Error(`the import rejected ${failedCount} memories: ${text}`);
    }
  }
  await Promise.all(Array.from({ length: senders }, send));
}
