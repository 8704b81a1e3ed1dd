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

/** The result of a test run: the first failed test. */
type Run = { failed: boolean; file: string | null; test: string | null };

/**
 * A run without output for this long counts as hung. Every test file takes less time, and the
 * timeout of a single test is shorter.
 */
const silenceMs = 90_000;
/** The maximum number of runs that fail in a way that cannot be reproduced. */
const maxTries = 3;

type Replaced = { path: string; text: string };

/** Copies the files at `paths` to a temporary folder and writes the mutant to it. */
export function createCopy(paths: string[], { path, text }: Replaced) {
  const folder = mkdtempSync(join(tmpdir(), 'mutate-'));
  for (const copied of paths) {
    mkdirSync(join(folder, dirname(copied)), { recursive: true });
    cpSync(join(root, copied), join(folder, copied));
  }
  linkPackages(folder);
  const insert = () => writeFileSync(join(folder, path), text);
  insert();

  /**
   * The mutation causes the failure if the same test fails again when its file runs alone, and the
   * file passes on the original code.
   */
  async function causeOf({ file, test }: Run): Promise<'mutation' | 'original code' | 'chance'> {
    if (file === null) return 'mutation';
    const again = await runTests(folder, [file]);
    if (!again.failed || again.test !== test) return 'chance';
    cpSync(join(root, path), join(folder, path));
    const control = await runTests(folder, [file]);
    insert();
    return control.failed ? 'original code' : 'mutation';
  }

  return {
    /** Returns the first test file that fails because of the mutation, or null if there is none. */
    async killedBy(tests: string[]): Promise<string | null> {
      let left = tests;
      for (let tries = 1; tries <= maxTries && left.length > 0; ) {
        const run = await runTests(folder, left);
        if (!run.failed) return null;
        const cause = await causeOf(run);
        if (cause === 'mutation') return run.file ?? 'a hang or a crash';
        if (cause === 'original code') left = left.filter((file) => file !== run.file);
        else tries += 1;
      }
      return null;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
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
  // With only a few files, starting worker processes costs more time than it saves.
  const parallel = tests.length > 5 ? ['--parallel=2', '--no-isolate'] : [];
  const paths = tests.map((path) => `./${path}`);
  const run = Bun.spawn(['bun', 'test', '--timeout=120000', '--bail', ...parallel, ...paths], {
    cwd,
    // A separate process group allows killing servers that a broken test left running.
    detached: true,
    stdout: 'ignore',
    stderr: 'pipe',
  });
  let output = '';
  const stop = () => endGroup(run.pid);
  let watch = setTimeout(stop, silenceMs);
  for await (const bytes of run.stderr) {
    output += Buffer.from(bytes).toString();
    clearTimeout(watch);
    watch = setTimeout(stop, silenceMs);
  }
  await run.exited;
  clearTimeout(watch);
  stop();
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
  let file: string | null = null;
  for (const line of output.split('\n')) {
    file = /^tests\/\S+\.test\.ts(?=:$)/.exec(line)?.[0] ?? file;
    if (!line.startsWith('(fail) ')) continue;
    // Removes the duration and the seed, because they differ in every run.
    return { file, test: line.slice('(fail) '.length).replace(/ \[[\d.]+ms\]$|seed \d+/g, '') };
  }
  return { file: null, test: null };
}
