/*
 * Python is optional: without it, or without the dependency of the Python SDK, its tests are
 * skipped.
 */

/** The command of a suitable Python: `TEST_PYTHON` or `python3`. */
const command = process.env.TEST_PYTHON ?? 'python3';

const check = `
import importlib.util, sys
sys.exit(sys.version_info < (3, 10) or not all(map(importlib.util.find_spec, sys.argv[1:])))`;

/** Why the Python tests cannot run, or undefined if they can. */
export function pythonProblem(framework = 'httpx2'): string | undefined {
  if (Bun.which(command) === null) return `${command} is not installed`;
  const arguments_ = ['-c', check, 'httpx2', framework];
  const { exitCode } = Bun.spawnSync([command, ...arguments_], { stderr: 'ignore' });
  return exitCode === 0 ? undefined : `${command} is older than 3.10 or has no ${framework}`;
}

/** Runs Python with every warning as an error, and returns what it printed. */
export async function runPython(
  args: string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<{ code: number; output: string }> {
  const child = Bun.spawn([command, '-W', 'error', ...args], {
    cwd,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, output: out + errors };
}
