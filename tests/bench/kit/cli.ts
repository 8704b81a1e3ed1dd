import { join } from 'node:path';
import { benchKey } from './requests.ts';

const main = join(import.meta.dir, '../../../cli/main.ts');

/** The command line as users run it, but for npx, which takes far longer than what it starts. */
export function memoryCommand(...args: string[]): string[] {
  return [process.execPath, main, ...args];
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

/** Runs a command to its end and returns how long it took, in ms; throws where it fails. */
export async function timeCommand(command: string[], env: Record<string, string>): Promise<number> {
  const begun = performance.now();
  const child = Bun.spawn(command, { env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
  const code = await child.exited;
  const ms = performance.now() - begun;
  if (code === 0) return ms;
  throw new Error(`${command.join(' ')}: ${await new Response(child.stderr).text()}`);
}
