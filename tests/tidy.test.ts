import { describe, expect, test } from 'bun:test';
import { importRule } from './tidy/imports.ts';
import { lengthRules } from './tidy/lengths.ts';
import { allPaths, type Rule, readSources, readText, type Source } from './tidy/source.ts';
import { wordRules } from './tidy/words.ts';

/* The style rules of this repository that can be checked automatically. */

const rules = [importRule, ...lengthRules, ...wordRules];

function broken({ name, breaches }: Rule, source: Source): string[] {
  return breaches(source).map(
    ({ line, why = '' }) => `${source.path}:${line} ${name}${why === '' ? '' : ` — ${why}`}`,
  );
}

describe.each(rules)('$name', (rule) => {
  test('reports a file that breaks it', () => {
    const found = broken(rule, rule.bad);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${rule.bad.path}:`);
  });

  test('accepts a file that follows it', () => {
    expect(broken(rule, rule.good)).toEqual([]);
  });

  test('holds in all sources', async () => {
    const sources = await readSources();
    expect(sources.flatMap((source) => broken(rule, source))).toEqual([]);
  });
});

describe('an import', () => {
  test.each([
    ['sdk/a.ts', "import { type Memory } from './contract/memory.ts';"],
    ['sdk/a.ts', "import { readFile } from 'node:fs';"],
    ['sdk/contract/a.ts', "export * from '../client.ts';"],
    ['cli/commands/a.ts', "import { startServer } from '../../server/main.ts';"],
    ['cli/a.ts', "await import('../server/app.ts');"],
    ['cli/terminal/a.ts', "import { connect } from '../client/connect.ts';"],
    ['cli/documents/a.ts', "import { connect } from '../client/connect.ts';"],
    ['cli/bulk/a.ts', "import { addList } from '../commands/list.ts';"],
    ['server/memory/a.ts', "import 'elysia';"],
    ['server/tasks/a.ts', "import type { Database } from 'bun:sqlite';"],
    [
      'server/storage/types/memories.ts',
      "import { limits } from '../../../sdk/contract/limits.ts';",
    ],
    ['server/storage/sqlite/a.ts', "import { app } from '../../app.ts';"],
    ['server/config.ts', "import type { Database } from './storage/sqlite/open.ts';"],
    ['tests/http/a.ts', "import { open } from '../../server/storage/sqlite/open.ts';"],
  ])('in %s is rejected: %s', (path, text) => {
    expect(broken(importRule, { path, text })).toHaveLength(1);
  });

  test.each([
    ['sdk/a.ts', "import type { Memory } from './contract/memory.ts';"],
    ['sdk/a.ts', "import { errorTable } from './contract/errors.ts';"],
    ['cli/commands/a.ts', "await import('../../server/main.ts');"],
    ['cli/commands/a.ts', "import type { Admin } from '../../server/admin.ts';"],
    ['server/http/a.ts', "import type { Storage } from '../storage/storage.ts';"],
    ['tests/a.ts', "import { openStorage } from '../server/storage/open.ts';"],
    ['tests/unit/a.ts', "import { byKey } from '../../server/storage/postgres/row.ts';"],
  ])('in %s is allowed: %s', (path, text) => {
    expect(broken(importRule, { path, text })).toEqual([]);
  });
});

describe('names of files and folders', () => {
  const vague = /(?:^|[/._-])(?:utils?|helpers?|common|managers?)(?=[/._-]|$)/i;

  test('describe the contents', async () => {
    const found = (await allPaths()).filter((path) => vague.test(path));
    expect(found).toEqual([]);
  });

  test.each(['server/utils/a.ts', 'cli/helpers.ts', 'sdk/string-util.ts', 'server/Manager.ts'])(
    'must not be %s',
    (path) => expect(path).toMatch(vague),
  );
});

test('files other than sources contain no machine-specific paths either', async () => {
  const rule = rules.find(({ name }) => name === 'no machine-specific paths');
  const paths = (await allPaths()).filter((path) => /\.(?:md|json|ya?ml|toml|sql)$/.test(path));
  const sources = await Promise.all(
    paths.map(async (path) => ({ path, text: await readText(path) })),
  );
  expect(sources.length).toBeGreaterThan(3);
  expect(sources.flatMap((source) => (rule ? broken(rule, source) : ['no such rule']))).toEqual([]);
});

test('the lockfile has an entry for each platform package, without which npm ci fails', async () => {
  const { packages } = JSON.parse(await readText('package-lock.json')) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const optional = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies),
  );
  expect(optional.length).toBeGreaterThan(20);
  expect(optional.filter((name) => packages[`node_modules/${name}`] === undefined)).toEqual([]);
});

test('the lockfile names no registry, so that any registry can be used', async () => {
  expect(await readText('package-lock.json')).not.toContain('"resolved": "http');
});

describe('sources', () => {
  test('are read from every folder', async () => {
    const paths = (await readSources()).map(({ path }) => path);
    expect(paths).toContain('server/app.ts');
    expect(paths).toContain('sdk/contract/memory.ts');
    expect(paths).toContain('tests/tidy.test.ts');
  });
});
