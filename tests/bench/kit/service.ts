import { join } from 'node:path';
import { $ } from 'bun';
import type { Context } from './benchmark.ts';
import type { Dataset } from './dataset.ts';
import { launch, type Subject } from './process.ts';
import { benchKey } from './requests.ts';
import type { Tree } from './trees.ts';

/*
 * Starts the service as a user would, through the CLI of a source tree. The only file of
 * the tree that this module names is cli/main.ts.
 */

export type ServiceOptions = {
  tree: Tree;
  /** The path of the database file, or the URL of a PostgreSQL database. */
  database: string;
  env?: Record<string, string>;
  /** The cores that the process may use, in the syntax of `taskset`; all by default. */
  cores?: string | undefined;
};

/** The settings of every service under test: one fixed key, no rate limit and no model. */
export const serviceEnv = {
  MEMORY_RATE_LIMIT: 'off',
  MEMORY_EMBEDDINGS: 'off',
  MEMORY_API_KEY: benchKey,
};

/** Returns the command that runs a tree's CLI from source. npx would start far more slowly. */
export function memoryCommand({ root }: Tree): string[] {
  return [process.execPath, join(root, 'cli/main.ts')];
}

export function startService(folder: string, options: ServiceOptions): Promise<Subject> {
  const { tree, database, env = {}, cores } = options;
  const pinned = cores === undefined ? [] : ['taskset', '-c', cores];
  const url = database.startsWith('postgres:') ? database : `sqlite:${database}`;
  const serve = [...memoryCommand(tree), 'serve', '--port', '0', '--database', url];
  return launch([...pinned, ...serve], folder, { ...homeIn(folder), ...serviceEnv, ...env });
}

/** Starts the service on the database with the dataset that all benchmarks share. */
export async function startOn(context: Context, tree: Tree, dataset: Dataset): Promise<Subject> {
  const database = await context.database(tree, dataset);
  return startService(context.folder, { tree, database });
}

/** Creates a key for `project` in a database that no service has open. */
export async function createKey(
  folder: string,
  tree: Tree,
  database: string,
  project: string,
): Promise<string> {
  const args = ['keys', 'create', '--project', project, '--database', `sqlite:${database}`];
  const env = { PATH: process.env.PATH ?? '', ...homeIn(folder) };
  const text = await $`${memoryCommand(tree)} ${args} --json`.env(env).quiet().text();
  return (JSON.parse(text) as { key: string }).key;
}

/** Returns a private home directory, so that the user's profiles are neither read nor written. */
function homeIn(folder: string): Record<string, string> {
  return { HOME: folder, XDG_CONFIG_HOME: folder };
}
