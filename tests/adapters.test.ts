import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
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

  test.skipIf(problem !== undefined)(
    'passes its tests',
    async () => {
      const run = adapter.endsWith('-python') ? runUnittest : runBunTest;
      const { code, output } = await run(folder);
      expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/Ran [1-9]/) });
    },
    timeoutMs,
  );
});

function runUnittest(folder: string) {
  const PYTHONPATH = `${folder}:${join(root, 'sdk/python')}`;
  const args = ['-m', 'unittest', 'discover', '-s', 'tests'];
  return runPython(args, folder, { ...environment(), PYTHONPATH });
}

async function runBunTest(folder: string) {
  const env = { ...process.env, ...environment() };
  // Without `--isolate`, the cases that the files of the AI SDK share run for the first file alone.
  const command = [process.execPath, 'test', '--isolate', `--timeout=${timeoutMs}`, './tests'];
  const child = Bun.spawn(command, { cwd: folder, env, stdout: 'pipe', stderr: 'pipe' });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, output: out + errors };
}
