import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { BunPlugin } from 'bun';
import { bundledPages, bundleModule } from './console.ts';
import { modelFolder, writeNotices } from './notices.ts';
import { copyFiles, packFolder, readManifest, root, writeManifest } from './staging.ts';

/**
 * Packs the CLI as one file with bytecode. Packs the service as sources, because the
 * service's threads start from separate modules. The entry points are Node scripts, because npm
 * guarantees only Node.
 */
export function packService(dist: string): Promise<string> {
  return packFolder(dist, async (folder) => {
    await bundleCli(join(folder, 'cli'));
    await copyFiles(folder, ['server/**/*.{ts,sql,css,js,ico,wasm}', `${modelFolder}/*`]);
    await rm(join(folder, 'server/console'), { recursive: true });
    await Bun.write(join(folder, bundleModule), await bundledPages());
    // The service needs the SDK for the tools of /mcp.
    await copyFiles(folder, ['sdk/*.ts', 'sdk/contract/*.ts']);
    await copyFiles(folder, ['README.md', 'CHANGELOG.md', 'LICENSE']);
    for (const name of ['memory.mjs', 'memory-service.mjs', 'postinstall.mjs']) {
      await Bun.write(join(folder, name), Bun.file(join(root, '.release', name)));
    }
    // memory.mjs passes this file to Bun, so that Bun ignores any bunfig.toml in the working
    // directory.
    await Bun.write(join(folder, 'bunfig.toml'), 'env = false\n');
    await writeNotices(folder);
    await writeManifest(folder, await manifest());
  });
}

async function bundleCli(outdir: string): Promise<void> {
  await Bun.build({
    entrypoints: [join(root, 'cli/main.ts')],
    outdir,
    target: 'bun',
    // Outside an executable, Bun supports bytecode only in this format.
    format: 'cjs',
    bytecode: true,
    // Identifiers are not minified, to keep stack traces readable.
    minify: { whitespace: true, syntax: true },
    plugins: [loadedWhenNeeded],
  });
}

/**
 * Excludes the server and the contract from the bundle of the CLI. A second copy of the server's
 * errors would have other classes than the errors that the server throws.
 */
const loadedWhenNeeded: BunPlugin = {
  name: 'loaded-when-needed',
  setup(build) {
    build.onResolve({ filter: /^\.\..*\/(server|mcp|sdk\/contract)\// }, ({ path, importer }) => {
      const target = relative(join(root, 'cli'), join(importer, '..', path));
      return { path: target.replaceAll('\\', '/'), external: true };
    });
  },
};

/** The dependencies that the bundles of the CLI and the console contain. */
const bundled = ['@preact/signals', 'commander', 'jsonc-parser', 'preact'];

async function manifest() {
  const { private: _, dependencies = {}, ...rest } = await readManifest('package.json');
  const forTheClone = ['workspaces', 'scripts', 'devDependencies', 'allowScripts'];
  const kept = Object.entries(rest).filter(([field]) => !forTheClone.includes(field));
  const needed = Object.entries(dependencies).filter(([name]) => !bundled.includes(name));
  return {
    ...Object.fromEntries(kept),
    version: rest.version,
    bin: { memory: 'memory.mjs', 'memory-service': 'memory-service.mjs' },
    scripts: { postinstall: 'node postinstall.mjs' },
    dependencies: Object.fromEntries(needed),
  };
}
