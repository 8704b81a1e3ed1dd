import { join } from 'node:path';
import { emptyProject } from '../package/project.ts';
import type { Case } from '../support/cases.ts';
import type { TestServer } from '../support/server.ts';

const seeds = [1, 2, 3, 4, 5];
const requestsPerOperation = 150;
const phases = 'examples,coverage,fuzzing,stateful';
/** The built-in checks of Schemathesis that schemathesis_hooks.py replaces. */
const replaced = [
  'positive_data_acceptance',
  'negative_data_rejection',
  'ensure_resource_availability',
  'missing_required_header',
  'ignored_auth',
];

export function linterCases({ url }: TestServer): Case[] {
  const document = `${url}/openapi.json`;
  return [
    {
      name: 'redocly',
      async run() {
        await using project = await emptyProject();
        await project.install('@redocly/cli@2.77.0');
        const strict = '--extends=recommended-strict';
        await project.run(['node_modules/.bin/redocly', 'lint', document, strict]);
        return 'no problems, recommended-strict';
      },
    },
    {
      name: 'spectral',
      async run() {
        await using project = await emptyProject();
        await project.install('@stoplight/spectral-cli@6.16.3');
        const rules = await project.write('rules.yaml', 'extends: ["spectral:oas"]\n');
        const lint = ['node_modules/.bin/spectral', 'lint', document, '--ruleset', rules];
        return await project.run([...lint, '--fail-severity', 'hint']);
      },
    },
  ];
}

export function schemathesisCases({ url, key }: TestServer): Case[] {
  return seeds.map((seed) => ({
    name: `schemathesis seed ${seed}`,
    async run() {
      await using project = await emptyProject();
      await project.run(['python3', '-m', 'venv', 'venv']);
      await project.run(['venv/bin/pip', 'install', '--quiet', 'schemathesis==4.32.5']);
      const hooks = Bun.file(join(import.meta.dir, 'schemathesis_hooks.py'));
      await project.write('schemathesis_hooks.py', await hooks.text());
      const output = await project.run(
        [
          ...['venv/bin/st', 'run', `${url}/openapi.json`, '-H', `Authorization: Bearer ${key}`],
          ...['--mode', 'all', '--phases', phases, '--checks', 'all'],
          ...['--exclude-checks', replaced.join(','), '--continue-on-failure'],
          ...['--seed', `${seed}`, '--max-examples', `${requestsPerOperation}`],
        ],
        { SCHEMATHESIS_HOOKS: 'schemathesis_hooks', PYTHONPATH: project.folder },
      );
      return /\d+ generated.*/.exec(output)?.[0] ?? output;
    },
  }));
}
