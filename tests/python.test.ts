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

const problemOfAgent = problem ?? pythonProblem('langgraph.graph');
if (problemOfAgent) console.warn(`Skipping the LangGraph agent: ${problemOfAgent}.`);

describe.skipIf(problem !== undefined)('the agents in docs/examples', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ MEMORY_EMBEDDINGS: 'local' });
  });
  afterAll(() => server.stop());

  /** Repeats the run, because a search does not wait long for new vectors on a busy machine. */
  async function ends(name: string, userId: string, expected: string): Promise<void> {
    const PYTHONPATH = `${folder}:${join(root, 'sdk/adapters/langgraph-python')}`;
    const env = { MEMORY_BASE_URL: server.url, MEMORY_API_KEY: server.key, PYTHONPATH };
    let ran = { code: 0, output: '' };
    for (let runs = 0; runs < 10 && !ran.output.endsWith(expected); runs++) {
      ran = await runPython([join('docs/examples', name), userId], root, env);
    }
    expect(ran.output).toEndWith(expected);
    expect(ran.code).toBe(0);
  }

  test('the chat agent remembers by meaning and separates users', async () => {
    await ends(
      'chat_agent.py',
      'ada',
      `user:  What food must I avoid?
agent: You told me: I am allergic to peanuts.
user:  Which city does my sister live in?
agent: You told me: My sister has moved to Lisbon.

Another user
user:  What food must I avoid?
agent: You never told me.
`,
    );
    expect((await server.client.list({ userId: 'ada' })).items).toHaveLength(2);
  });

  test.skipIf(problemOfAgent !== undefined)(
    'the LangGraph agent remembers by meaning',
    async () => {
      await ends(
        'langgraph_agent.py',
        'ben',
        `user:  What food must I avoid?
agent: You told me: I am allergic to peanuts.
`,
      );
      expect((await server.client.list({ userId: 'ben' })).items).toHaveLength(1);
    },
  );
});
