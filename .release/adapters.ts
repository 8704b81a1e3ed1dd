import { basename, dirname, join } from 'node:path';
import { $, Glob } from 'bun';
import { packFolder, readManifest, root, writeManifest } from './staging.ts';

/** Packs each adapter in TypeScript as one module with its types. Needs no framework. */
export async function packAdapters(dist: string): Promise<string[]> {
  const found = [...new Glob('sdk/adapters/*/package.json').scanSync(root)].sort();
  const made: string[] = [];
  for (const path of found) made.push(await packAdapter(dist, dirname(path)));
  return made;
}

function packAdapter(dist: string, source: string): Promise<string> {
  return packFolder(dist, async (folder) => {
    await compile(join(root, source, 'index.ts'), folder);
    await writeManifest(folder, await manifest(source));
    for (const path of [`${source}/README.md`, 'LICENSE']) {
      await Bun.write(join(folder, basename(path)), Bun.file(join(root, path)));
    }
  });
}

/** Isolated declarations can be written without the frameworks. `.ci/adapters` checks the types. */
async function compile(file: string, outDir: string): Promise<void> {
  const emitted = { noEmit: false, declaration: true, rewriteRelativeImportExtensions: true };
  const alone = { isolatedDeclarations: true, noCheck: true, noResolve: true, types: [] };
  const paths = { target: 'ES2022', rootDir: dirname(file), outDir };
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { ...emitted, ...alone, ...paths },
    include: [],
    files: [file],
  };
  const config = join(outDir, 'tsconfig.json');
  await Bun.write(config, JSON.stringify(options));
  await $`${join(root, 'node_modules/.bin/tsc')} -p ${config}`;
  await $`rm ${config}`;
}

async function manifest(source: string) {
  const { version } = await readManifest('package.json');
  const own = await readManifest(`${source}/package.json`);
  const { private: _, scripts: __, devDependencies: ___, ...rest } = own;
  if (rest.version !== version) throw new Error(`${source} must have version ${version}`);
  return { ...rest, exports: { '.': { types: './index.d.ts', default: './index.js' } } };
}
