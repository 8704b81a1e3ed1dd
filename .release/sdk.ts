import { readdir, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { $ } from 'bun';
import { plainTypes } from './plain-types.ts';
import { packFolder, readManifest, root, writeManifest } from './staging.ts';

/** Packs the SDK as ECMAScript modules with types that need neither Bun nor TypeBox. */
export function packSdk(dist: string): Promise<string> {
  return packFolder(dist, async (folder) => {
    await compile(folder);
    await makeTypesPlain(folder);
    await dropUnreached(folder);
    await writeManifest(folder, await manifest());
    for (const path of ['sdk/README.md', 'LICENSE']) {
      await Bun.write(join(folder, posix.basename(path)), Bun.file(join(root, path)));
    }
  });
}

async function compile(folder: string): Promise<void> {
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      target: 'ES2022',
      rootDir: join(root, 'sdk'),
      outDir: folder,
      typeRoots: [join(root, 'node_modules')],
    },
    include: [],
    files: [join(root, 'sdk/index.ts')],
  };
  const config = join(folder, 'tsconfig.json');
  await Bun.write(config, JSON.stringify(options));
  await $`${join(root, 'node_modules/.bin/tsc')} -p ${config}`;
  await rm(config);
}

async function makeTypesPlain(folder: string): Promise<void> {
  for (const path of await filesIn(folder)) {
    if (!path.endsWith('.d.ts')) continue;
    const file = join(folder, path);
    const text = await Bun.file(file).text();
    const plain = path.startsWith('contract/') ? await plainTypes(path, text) : text;
    // The compiler keeps .ts extensions in declarations, but the package has no .ts sources.
    await Bun.write(file, plain.replace(/((?:from |import\()["']\.[^"']*)\.ts(["'])/g, '$1.js$2'));
  }
}

async function dropUnreached(folder: string): Promise<void> {
  const reached = new Set([
    ...(await reachedFrom(folder, 'index.js', '.js')),
    ...(await reachedFrom(folder, 'index.d.ts', '.d.ts')),
  ]);
  for (const path of await filesIn(folder)) {
    if (!reached.has(path)) await rm(join(folder, path));
  }
}

async function reachedFrom(folder: string, entry: string, extension: string) {
  const reached = new Set([entry]);
  // Iterating over a set includes elements that are added during the iteration.
  for (const path of reached) {
    const text = await Bun.file(join(folder, path)).text();
    for (const [, target = ''] of text.matchAll(/(?:from |import\()["'](\.[^"']*)\.js["']/g)) {
      reached.add(posix.join(posix.dirname(path), target) + extension);
    }
  }
  return reached;
}

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(folder, posix.join(entry.parentPath, entry.name)));
}

async function manifest() {
  const { private: _, dependencies = {}, ...rest } = await readManifest('sdk/package.json');
  const { version } = await readManifest('package.json');
  if (rest.version !== version)
    throw new Error(`the SDK has version ${rest.version}, expected ${version}`);
  const { '@sinclair/typebox': __, ...needed } = dependencies;
  return {
    ...rest,
    main: './index.js',
    types: './index.d.ts',
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    dependencies: needed,
  };
}
