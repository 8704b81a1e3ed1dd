import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { $ } from 'bun';
import { packSdk } from '../../.release/sdk.ts';
import { temporaryFolder } from '../support/folder.ts';
import { withServer } from '../support/server.ts';
import { emptyProject, type Project, writeScenario } from './project.ts';
import { bundleWhole } from './runtimes.ts';
import { compileProgram, settings } from './types.ts';

/* Tests of the packed SDK that need no registry. tests/package/main.ts runs the other tests. */

const root = join(import.meta.dir, '../..');
let project: Project;
const server = await withServer();
let installed = '';

beforeAll(async () => {
  project = await emptyProject();
  using folder = temporaryFolder();
  const tarball = await packSdk(folder.path);
  installed = project.file('node_modules/memory-service-sdk');
  await mkdir(installed, { recursive: true });
  await $`tar xzf ${tarball} -C ${installed} --strip-components 1`;
  // npm would install these dependencies.
  for (const name of ['ofetch', 'destr', 'ufo', 'node-fetch-native']) {
    await symlink(join(root, 'node_modules', name), project.file(`node_modules/${name}`));
  }
});
afterAll(() => project[Symbol.asyncDispose]());

test.if(Bun.which('node') !== null)('the packed SDK works as documented on Node', async () => {
  await writeScenario(project);
  const env = { BASE_URL: server.url, KEY: server.key, USER_ID: 'node' };
  expect(await project.run(['node', 'main.js'], env)).toBe('16 operations');
});

test('a page that uses the whole packed SDK is under 8 KiB gzipped', async () => {
  expect(await bundleWhole(project)).toBeGreaterThan(4_000);
});

test('the packed SDK contains only modules and types, without TypeBox', async () => {
  const found = await readdir(installed, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  const strange = files.filter(({ name }) => !/\.d\.ts$|\.js$/.test(name)).map(({ name }) => name);
  expect(strange.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
  for (const { parentPath, name } of files) {
    const text = await Bun.file(join(parentPath, name)).text();
    expect(text).not.toMatch(/typebox|from ['"]\..*\.ts['"]/i);
    // Users would have to install every package that the declarations import.
    if (name.endsWith('.d.ts')) expect(text).not.toMatch(/(?:from|import\() ?['"][^.]/);
  }
});

// The node16 setting needs @types/node, which only main.ts installs.
test.each(settings.filter(({ types }) => types.length === 0))(
  'a program compiles against every packed declaration with $moduleResolution',
  async (setting) => {
    await compileProgram(project, setting, join(root, 'node_modules/typescript/bin/tsc'));
  },
);

test('the packed types equal the types in the sources', async () => {
  const index = await Bun.file(join(root, 'sdk/index.ts')).text();
  const lists = [...index.matchAll(/^export type \{([^}]*)\}/gm)].map(([, list = '']) => list);
  const all = lists.flatMap((list) => list.match(/\w+/g) ?? []);
  // TypeScript never treats two classes with private fields as the same type.
  const names = all.filter((name) => name !== 'Ingest');
  expect(names.length).toBeGreaterThan(40);
  const args = ['ApiResponse', 'ApiPromise', 'Replayable'];
  const lines = names.map((name) => {
    const of = args.includes(name) ? '<object>' : '';
    return `export const ${name}: Same<Packed.${name}${of}, Source.${name}${of}> = true;`;
  });
  await project.write(
    'same.ts',
    `import type * as Packed from 'memory-service-sdk';
import type * as Source from '${join(root, 'sdk/index.ts')}';
type Same<A, B> = [A, B] extends [B, A] ? true : never;
${lines.join('\n')}\n`,
  );
  const options = { extends: join(root, 'tsconfig.json'), include: [], files: ['same.ts'] };
  const config = { ...options, compilerOptions: { typeRoots: [join(root, 'node_modules')] } };
  await project.write('tsconfig.json', JSON.stringify(config));
  expect(await project.run([join(root, 'node_modules/.bin/tsc'), '-p', 'tsconfig.json'])).toBe('');
});
