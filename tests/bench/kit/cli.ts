import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { $ } from 'bun';
import { hostTarget } from '../../../.release/executables.ts';
import { installService, runInstallScript } from '../../package/install.ts';
import { benchKey } from './requests.ts';
import type { Tree } from './trees.ts';

/** Builds the executable that a release of the tree would contain for this machine. */
export async function buildExecutable(folder: string, { root }: Tree): Promise<string> {
  if (hostTarget === undefined) throw new Error('releases contain no executable for this platform');
  await mkdir(folder, { recursive: true });
  const program =
    `const { buildExecutable } = await import(${JSON.stringify(join(root, '.release/executables.ts'))});` +
    `console.log(await buildExecutable(${JSON.stringify(folder)}, ${JSON.stringify(hostTarget)}));`;
  return (await $`${process.execPath} -e ${program}`.cwd(folder).quiet().text()).trim();
}

/** Installs the packed service as npm does. */
export async function installPackage(project: string) {
  await mkdir(project, { recursive: true });
  const installed = await installService(project);
  await runInstallScript(installed);
  return {
    installed: [installed.memory],
    // Without install scripts, the installed command is this file, run by Node.
    byNode: ['node', join(installed.folder, 'memory.mjs')],
  };
}

/**
 * Returns an environment with a private home directory, so that the user's profiles have no effect.
 */
export function cliEnv(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_CONFIG_HOME: home,
    MEMORY_API_KEY: benchKey,
    MEMORY_RATE_LIMIT: 'off',
  };
}

/** The wall time from start to exit, and the CPU time. */
export type CommandTime = { ms: number; cpuMs: number };

/** Runs a command until it exits. Throws if the command fails. */
export async function measureCommand(
  command: string[],
  env: Record<string, string>,
): Promise<CommandTime> {
  const begun = performance.now();
  const child = Bun.spawn(command, { env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
  const code = await child.exited;
  const ms = performance.now() - begun;
  const cpuMs = Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1_000;
  if (code === 0) return { ms, cpuMs };
  throw new Error(`${command.join(' ')}: ${await new Response(child.stderr).text()}`);
}
