import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Glob } from 'bun';
import { pythonProblem, runPython } from './support/python.ts';
import { withProject } from './support/server.ts';

/* Runs the tests of the adapters in sdk/adapters, if their frameworks are installed. */

const root = join(import.meta.dir, '..');
const folders = join(root, 'sdk/adapters');

const server = await withProject();
const environment = () => ({ MEMORY_BASE_URL: server.url, MEMORY_API_KEY: server.key });

/** ADAPTER_SEQUENCES makes the tests longer. */
const timeoutMs = 120_000 + 1_000 * Number(process.env.ADAPTER_SEQUENCES ?? 0);

/** The package without which the tests of an adapter in Python are skipped. */
const frameworks: Record<string, string> = {
  'claude-python': 'anthropic',
  'langgraph-python': 'langgraph.store',
};

function problemOf(adapter: string): string | undefined {
  const framework = frameworks[adapter];
  if (framework !== undefined) return pythonProblem(framework);
  const isInstalled = existsSync(join(folders, adapter, 'node_modules'));
  return isInstalled ? undefined : `npm install has not been run in sdk/adapters/${adapter}`;
}

describe.each(readdirSync(folders))('the adapter %s', (adapter) => {
  const folder = join(folders, adapter);
  const problem = problemOf(adapter);
  if (problem !== undefined) console.warn(`Skipping the adapter ${adapter}: ${problem}.`);

  const suites = [...new Glob('tests/*{.test.ts,test_*.py}').scanSync(folder)];
  test('has tests', () => expect(suites).not.toEqual([]));

  test.skipIf(problem !== undefined).each(suites)(
    'passes %s',
    async (suite) => {
      const run = suite.endsWith('.py') ? runUnittest : runBunTest;
      const { code, output } = await run(folder, suite);
      expect({ code, output }).toMatchObject({ code: 0 });
    },
    timeoutMs,
  );
});

function runUnittest(folder: string, suite: string) {
  const PYTHONPATH = `${folder}:${join(root, 'sdk/python')}`;
  const args = ['-m', 'unittest', 'discover', '-s', 'tests', '-p', basename(suite)];
  return runPython(args, folder, { ...environment(), PYTHONPATH });
}

async function runBunTest(folder: string, suite: string) {
  const env = { ...process.env, ...environment() };
  const command = [process.execPath, 'test', `--timeout=${timeoutMs}`, `./${suite}`];
  const child = Bun.spawn(command, { cwd: folder, env, stdout: 'pipe', stderr: 'pipe' });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, output: out + errors };
}
