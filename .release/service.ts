import { join, relative } from 'node:path';
import type { BunPlugin } from 'bun';
import { writeNotices } from './notices.ts';
import { copyFiles, packFolder, readManifest, root, writeManifest } from './staging.ts';

/**
 * The command line as one file with its bytecode, so that it starts at once; the service as the
 * sources that all tests ran on, since its threads start from modules of their own. The door is a
 * program for Node, which is all that the machine that installs them has for sure.
 */
export function packService(dist: string): Promise<string> {
  return packFolder(dist, async (folder) => {
    await bundleCli(join(folder, 'cli'));
    await copyFiles(folder, ['server/**/*.{ts,sql}']);
    // For the tools of /mcp, which call the service as its client.
    await copyFiles(folder, ['sdk/*.ts', 'sdk/contract/*.ts']);
    await copyFiles(folder, ['README.md', 'CHANGELOG.md', 'LICENSE']);
    for (const name of ['memory.mjs', 'memory-service.mjs', 'postinstall.mjs']) {
      await Bun.write(join(folder, name), Bun.file(join(root, '.release', name)));
    }
    // Named by what starts Bun, in the place of one that lies where the command is called.
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
    // Outside of an executable, Bun takes bytecode only in this format.
    format: 'cjs',
    bytecode: true,
    // Names stay, for the sake of whoever reads a stack.
    minify: { whitespace: true, syntax: true },
    plugins: [loadedWhenNeeded],
  });
}

/** What the command line imports only when it is needed stays a source. */
const loadedWhenNeeded: BunPlugin = {
  name: 'loaded-when-needed',
  setup(build) {
    build.onResolve(
      { filter: /^\.\..*\/(server|mcp|sdk\/contract)\// },
      ({ path, importer, kind }) => {
        if (kind !== 'dynamic-import') return undefined;
        const target = relative(join(root, 'cli'), join(importer, '..', path));
        return { path: target.replaceAll('\\', '/'), external: true };
      },
    );
  },
};

async function manifest() {
  const { private: _, dependencies = {}, ...rest } = await readManifest('package.json');
  const forTheClone = ['workspaces', 'scripts', 'devDependencies', 'allowScripts'];
  const kept = Object.entries(rest).filter(([field]) => !forTheClone.includes(field));
  const { commander: _commander, 'jsonc-parser': _parser, ...needed } = dependencies;
  return {
    ...Object.fromEntries(kept),
    version: rest.version,
    bin: { memory: 'memory.mjs', 'memory-service': 'memory-service.mjs' },
    scripts: { postinstall: 'node postinstall.mjs' },
    // The other ones are in the bundle.
    dependencies: needed,
  };
}
