import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from './benchmark.ts';
import type { Dataset } from './dataset.ts';
import { fill } from './fill.ts';
import { short } from './numbers.ts';
import type { Tree } from './trees.ts';

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
    await fill(scratch, tree, path, dataset);
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
