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

/** The result of a test run: the first failed test, and all test files with failures. */
type Run = {
  failed: boolean;
  finished: boolean;
  file: string | null;
  test: string | null;
  files: string[];
};

/**
 * A run without output for this long counts as hung. Every test file takes less time, and the
 * timeout of a single test is shorter.
 */
const silenceMs = 90_000;
/**
 * The maximum duration of a run of all tests, which takes a third of it on two cores. Without this
 * limit, a mutant that makes every test wait for its timeout would take most of an hour.
 */
const maxRunMs = 900_000;
/** The maximum number of runs that fail in a way that cannot be reproduced. */
const maxTries = 3;

type Replaced = { path: string; text: string };

/** A temporary copy of the tree with one or more mutations. */
export type Copy = AsyncDisposable & {
  /** Returns the first test file that fails because of a mutation, or null if there is none. */
  killedBy(tests: string[]): Promise<string | null>;
  /** Runs all test files. Returns those that fail, or null if the run hangs or crashes. */
  failing(tests: string[]): Promise<string[] | null>;
};

/** Copies the files at `paths` to a temporary folder and writes the mutants to it. */
export function createCopy(paths: string[], mutants: Replaced[]): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'mutate-'));
  for (const copied of paths) {
    mkdirSync(join(folder, dirname(copied)), { recursive: true });
    cpSync(join(root, copied), join(folder, copied));
  }
  linkPackages(folder);
  const insert = () => {
    for (const { path, text } of mutants) writeFileSync(join(folder, path), text);
  };
  insert();

  /**
   * The mutation causes the failure if the same test fails again when its file runs alone, and the
   * file passes on the original code.
   */
  async function causeOf({ file, test }: Run): Promise<'mutation' | 'original code' | 'chance'> {
    if (file === null) return 'mutation';
    const again = await runTests(folder, [file]);
    if (!again.failed || again.test !== test) return 'chance';
    for (const { path } of mutants) cpSync(join(root, path), join(folder, path));
    const control = await runTests(folder, [file]);
    insert();
    return control.failed ? 'original code' : 'mutation';
  }

  return {
    async killedBy(tests) {
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
    async failing(tests) {
      const { failed, finished, files } = await runTests(folder, tests, { bail: false });
      return !finished || (failed && files.length === 0) ? null : files;
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

/** Runs the tests, by default until the first failure. */
async function runTests(cwd: string, tests: string[], { bail = true } = {}): Promise<Run> {
  // With only a few files, starting worker processes costs more time than it saves.
  const parallel = tests.length > 5 ? ['--parallel=2', '--no-isolate'] : [];
  const paths = tests.map((path) => `./${path}`);
  const options = ['--timeout=120000', ...(bail ? ['--bail'] : []), ...parallel];
  const run = Bun.spawn(['bun', 'test', ...options, ...paths], {
    cwd,
    // A separate process group allows killing servers that a broken test left running.
    detached: true,
    stdout: 'ignore',
    stderr: 'pipe',
  });
  let output = '';
  let finished = true;
  const stop = () => {
    finished = false;
    endGroup(run.pid);
  };
  // A run that ends with the first failure needs no limit.
  const limit = bail ? undefined : setTimeout(stop, maxRunMs);
  let watch = setTimeout(stop, silenceMs);
  const stopIfSilent = () => {
    clearTimeout(watch);
    watch = setTimeout(stop, silenceMs);
  };
  for await (const bytes of run.stderr) {
    output += Buffer.from(bytes).toString();
    stopIfSilent();
  }
  await run.exited;
  clearTimeout(watch);
  clearTimeout(limit);
  endGroup(run.pid);
  return { failed: run.exitCode !== 0, finished, ...failuresIn(output) };
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has already exited.
  }
}

/** Finds the failed tests. The output prints the name of a test file before its tests. */
function failuresIn(output: string): Pick<Run, 'file' | 'test' | 'files'> {
  const files = new Set<string>();
  let file: string | null = null;
  let test: string | null = null;
  for (const line of output.split('\n')) {
    file = /^tests\/\S+\.test\.ts(?=:$)/.exec(line)?.[0] ?? file;
    if (!line.startsWith('(fail) ')) continue;
    // Removes the duration and the seed, because they differ in every run.
    test ??= line.slice('(fail) '.length).replace(/ \[[\d.]+ms\]$|seed \d+/g, '');
    if (file !== null) files.add(file);
  }
  const [first = null] = files;
  return { file: first, test, files: [...files] };
}
