import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { $ } from 'bun';

/** A source tree of the service. */
export type Tree = { name: string; slug: string; root: string };

const root = join(import.meta.dir, '../../..');

/** The slug changes when the storage code is committed, so that no run reuses an older database. */
export const currentTree: Tree = {
  name: 'the service',
  slug: `current-${(await $`git rev-parse --short HEAD:server/storage`.cwd(root).text()).trim()}`,
  root,
};

/** The last commit in which SQLite, search and HTTP shared one thread. */
export const singleThreaded = 'c6dcaa0aa95254217d6388098278ff8a2a4bc664';

/** Checks out the commit's sources, ready to run. Throws if git does not have the commit. */
export async function checkOutBaseline(commit: string, folder: string): Promise<Tree> {
  const target = join(folder, 'baseline');
  mkdirSync(target);
  const archived = await $`git archive ${commit} | tar -x -C ${target}`.cwd(root).quiet().nothrow();
  if (archived.exitCode !== 0) {
    const advice = 'in a shallow clone, run: git fetch --unshallow';
    throw new Error(`git does not have the commit ${commit}; ${advice}`);
  }
  // Both trees run on this process's Bun and on the same packages: only the service's code differs.
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'));
  return { name: 'the baseline', slug: `baseline-${commit.slice(0, 7)}`, root: target };
}
