import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
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
  const known = await $`git cat-file -e ${`${commit}^{commit}`}`.cwd(root).quiet().nothrow();
  if (known.exitCode !== 0) {
    const advice = 'in a shallow clone, run: git fetch --unshallow';
    throw new Error(`git does not have the commit ${commit}; ${advice}`);
  }
  const target = join(folder, 'baseline');
  mkdirSync(target);
  const archive = join(folder, 'baseline.tar');
  await $`git archive --output ${archive} ${commit}`.cwd(root).quiet();
  await $`tar -xf ${archive} -C ${target}`.quiet();
  await $`rm ${archive}`.quiet();
  await installInto(target);
  return { name: 'the baseline', slug: `baseline-${commit.slice(0, 7)}`, root: target };
}

/**
 * Installs the packages of the older tree. Both trees run on this process's Bun, so no install
 * script is needed.
 */
async function installInto(target: string): Promise<void> {
  if (sameDependencies(target)) {
    symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'));
    return;
  }
  await $`npm ci --ignore-scripts --omit=dev --no-audit --no-fund`.cwd(target).quiet();
}

/** Returns whether this tree has the same versions of the packages that the older tree needs. */
function sameDependencies(target: string): boolean {
  const ours = lockedPackages(root);
  return Object.entries(lockedPackages(target)).every(
    ([path, { version, dev, link }]) =>
      dev === true || link === true || ours[path]?.version === version,
  );
}

type Locked = { version?: string; dev?: boolean; link?: boolean };

function lockedPackages(folder: string): Record<string, Locked> {
  const text = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, Locked> };
  const installed = Object.entries(packages).filter(([path]) => path.startsWith('node_modules/'));
  return Object.fromEntries(installed);
}
