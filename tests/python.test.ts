import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pythonProblem, runPython } from './support/python.ts';
import { startTestServer } from './support/server.ts';

/* Runs the tests of the Python SDK, which are in sdk/python/tests. */

const folder = join(import.meta.dir, '../sdk/python');
const problem = pythonProblem();
if (problem !== undefined) console.warn(`Skipping the tests of the Python SDK: ${problem}.`);

describe.skipIf(problem !== undefined)('the Python SDK', () => {
  const suites = readdirSync(join(folder, 'tests')).filter((name) => /^test_.*\.py$/.test(name));

  test.each(suites)('passes %s', async (name) => {
    const { code, output } = await runPython(['-m', 'unittest', `tests/${name}`], folder);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/Ran \d\d/) });
  });

  test('works with a real service', async () => {
    const server = await startTestServer();
    try {
      const env = {
        MEMORY_BASE_URL: server.url,
        MEMORY_API_KEY: server.key,
        BOUND_KEY: await server.createKey('default', { userId: 'bound' }),
      };
      const { code, output } = await runPython(['-m', 'unittest', 'tests.service'], folder, env);
      expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('Ran 4 tests') });
    } finally {
      await server.stop();
    }
  });
});
