import { join } from 'node:path';
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

/** Returns a private home directory, so that the user's profiles are neither read nor written. */
function homeIn(folder: string): Record<string, string> {
  return { HOME: folder, XDG_CONFIG_HOME: folder };
}

/** The wall time from start to exit, and the CPU time. */
export type CommandTime = { ms: number; cpuMs: number };

/** Runs a command, such as the CLI, until it exits. Throws if the command fails. */
export async function measureCommand(command: string[], folder: string): Promise<CommandTime> {
  const env = { PATH: process.env.PATH, ...homeIn(folder), ...serviceEnv };
  const begun = performance.now();
  const child = Bun.spawn(command, { env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
  const code = await child.exited;
  const ms = performance.now() - begun;
  const cpuMs = Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1_000;
  if (code === 0) return { ms, cpuMs };
  throw new Error(`${command.join(' ')}: ${await new Response(child.stderr).text()}`);
}
