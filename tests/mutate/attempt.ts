import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './sources.ts';

/** The result of a test run, with the failed test and its file if the output names them. */
type Run = { failed: boolean; file: string | null; test: string | null };

/**
 * The limit for a run without output, after which it counts as hung. No test file takes this long,
 * and the timeout of a test is shorter.
 */
const silenceMs = 90_000;
/** The maximum number of runs, because a failure may turn out to be unrelated to the fault. */
const maxTries = 3;

/** A temporary copy of the tree with a fault in it. */
export type Copy = AsyncDisposable & {
  /** Returns the test file that notices the fault, or null if all pass. */
  noticedBy(tests: string[]): Promise<string | null>;
};

/** Creates a copy of the files at `paths` and replaces the file at `path` with `text`. */
export function createCopy(paths: string[], { path, text }: { path: string; text: string }): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'mutate-'));
  for (const copied of paths) {
    mkdirSync(join(folder, dirname(copied)), { recursive: true });
    cpSync(join(root, copied), join(folder, copied));
  }
  linkPackages(folder);
  const insert = () => writeFileSync(join(folder, path), text);
  insert();

  /**
   * Whether the fault causes the failure: the test fails again alone, and passes without the fault.
   * On a busy machine, a test may fail repeatedly without any fault.
   */
  async function isConfirmed({ file, test }: Run): Promise<boolean> {
    if (file === null) return true;
    const again = await runTests(folder, [file]);
    if (!again.failed || again.test !== test) return false;
    cpSync(join(root, path), join(folder, path));
    const control = await runTests(folder, [file]);
    insert();
    return !control.failed;
  }

  return {
    async noticedBy(tests) {
      for (let tries = 1; tries <= maxTries; tries += 1) {
        const run = await runTests(folder, tests);
        if (!run.failed) return null;
        if (await isConfirmed(run)) return run.file ?? 'a hang or a crash';
      }
      return null;
    },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Links to the installed packages, except for the SDK, which must be the copy's. */
function linkPackages(folder: string): void {
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(root, 'node_modules'))) {
    const isOwn = name === 'memory-service-sdk';
    symlinkSync(isOwn ? '../sdk' : join(root, 'node_modules', name), join(packages, name));
  }
}

/** Runs the tests until the first failure. */
async function runTests(cwd: string, tests: string[]): Promise<Run> {
  // For a few files, starting worker processes takes longer than it saves.
  const parallel = tests.length > 5 ? ['--parallel=2'] : [];
  const paths = tests.map((path) => `./${path}`);
  const run = Bun.spawn(['bun', 'test', '--bail', ...parallel, ...paths], {
    cwd,
    // The separate process group allows servers that a broken test left running to be killed.
    detached: true,
    stdout: 'ignore',
    stderr: 'pipe',
  });
  let output = '';
  let watch = setTimeout(() => {}, 0);
  const stopIfSilent = () => {
    clearTimeout(watch);
    watch = setTimeout(() => endGroup(run.pid), silenceMs);
  };
  stopIfSilent();
  for await (const bytes of run.stderr) {
    output += Buffer.from(bytes).toString();
    stopIfSilent();
  }
  await run.exited;
  clearTimeout(watch);
  endGroup(run.pid);
  return { failed: run.exitCode !== 0, ...firstFailure(output) };
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has already exited.
  }
}

/** Finds the first failed test. The output prints the name of a test file before its tests. */
function firstFailure(output: string): Pick<Run, 'file' | 'test'> {
  const [before = '', after] = output.split('\n(fail) ', 2);
  if (after === undefined) return { file: null, test: null };
  const file = before.match(/^tests\/\S+\.test\.ts(?=:$)/gm)?.at(-1) ?? null;
  return { file, test: after.replace(/(?: \[[\d.]+ms\])?\n[\s\S]*/, '') };
}
