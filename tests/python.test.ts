import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pythonProblem, runPython } from './support/python.ts';
import { startTestServer, type TestServer } from './support/server.ts';

/* Runs the tests of the Python SDK, which are in sdk/python/tests. */

const root = join(import.meta.dir, '..');
const folder = join(root, 'sdk/python');
const problem = pythonProblem();
if (problem !== undefined) console.warn(`Skipping the tests of the Python SDK: ${problem}.`);

describe.skipIf(problem !== undefined)('the Python SDK', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());
  const environment = () => ({ MEMORY_BASE_URL: server.url, MEMORY_API_KEY: server.key });

  const suites = readdirSync(join(folder, 'tests')).filter((name) => /^test_.*\.py$/.test(name));

  test.each(suites)('passes %s', async (name) => {
    const { code, output } = await runPython(['-m', 'unittest', `tests/${name}`], folder);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/Ran \d\d/) });
  });

  test('works with a real service', async () => {
    const BOUND_KEY = await server.createKey('default', { userId: 'bound' });
    const env = { ...environment(), BOUND_KEY };
    const { code, output } = await runPython(['-m', 'unittest', 'tests.service'], folder, env);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('Ran 4 tests') });
  });

  test.each(['README.md', 'docs/python.md', 'sdk/python/README.md'])(
    'prints what the first example of %s says',
    async (page) => {
      await server.client.deleteAll({ userId: 'ada' });
      const text = await Bun.file(join(root, page)).text();
      const [, code = ''] = /```py(?:thon)?\n(.*?)```/s.exec(text) ?? [];
      const printed = [...code.matchAll(/print\(.*\) +# (.*)$/gm)].map(([, line]) => line);
      expect(printed.length).toBeGreaterThan(0);
      const ran = await runPython(['-c', code], folder, environment());
      expect(ran).toEqual({ code: 0, output: `${printed.join('\n')}\n` });
    },
  );
});
