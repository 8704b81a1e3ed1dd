import { benchKey } from './requests.ts';

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
