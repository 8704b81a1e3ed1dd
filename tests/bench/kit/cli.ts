import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildExecutable, hostTarget } from '../../../.release/executables.ts';
import { placeService, runInstallScript } from '../../package/place.ts';
import { benchKey } from './requests.ts';

const main = join(import.meta.dir, '../../../cli/main.ts');

/** The command line as a clone runs it, but for npx, which takes far longer than what it starts. */
export function memoryCommand(...args: string[]): string[] {
  return [process.execPath, main, ...args];
}

/** The command line in every form that people have it in, made from these sources. */
export async function everyForm(folder: string) {
  if (hostTarget === undefined) throw new Error('no executable is made for this machine');
  const project = join(folder, 'installed');
  await mkdir(project, { recursive: true });
  const placed = await placeService(project);
  await runInstallScript(placed);
  return {
    executable: [await buildExecutable(project, hostTarget)],
    installed: [placed.memory],
    // As npm leaves it where it may not run scripts.
    byNode: ['node', join(placed.folder, 'memory.mjs')],
    clone: memoryCommand(),
  };
}

/** A home of its own, so that nobody's profile is read or written. */
export function cliEnv(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_CONFIG_HOME: home,
    MEMORY_API_KEY: benchKey,
    MEMORY_RATE_LIMIT: 'off',
  };
}

/** From start to exit, and what the processors did for it. */
export type Took = { ms: number; processorMs: number };

/** Runs a command to its end; throws where it fails. */
export async function measureCommand(
  command: string[],
  env: Record<string, string>,
): Promise<Took> {
  const begun = performance.now();
  const child = Bun.spawn(command, { env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
  const code = await child.exited;
  const ms = performance.now() - begun;
  const processorMs = Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1_000;
  if (code === 0) return { ms, processorMs };
  throw new Error(`${command.join(' ')}: ${await new Response(child.stderr).text()}`);
}

/** How long a command takes, in ms; throws where it fails. */
export async function timeCommand(command: string[], env: Record<string, string>): Promise<number> {
  return (await measureCommand(command, env)).ms;
}
