import { join } from 'node:path';
import { copyFiles, packFolder, readManifest, root, writeManifest } from './staging.ts';

/**
 * The service and the command line, as the sources that all tests ran on: Bun, a dependency, takes
 * them as they are. Only the door differs, for the machine that installs them has Node alone.
 */
export function packService(dist: string): Promise<string> {
  return packFolder(dist, async (folder) => {
    await copyFiles(folder, ['{cli,server,sdk}/**/*.ts', 'server/**/*.sql']);
    await copyFiles(folder, ['README.md', 'CHANGELOG.md', 'LICENSE']);
    await Bun.write(join(folder, 'memory.mjs'), Bun.file(join(root, '.release/memory.mjs')));
    await writeManifest(folder, await manifest());
  });
}

async function manifest() {
  const { private: _, ...rest } = await readManifest('package.json');
  const forTheClone = ['workspaces', 'scripts', 'devDependencies', 'allowScripts'];
  const kept = Object.entries(rest).filter(([field]) => !forTheClone.includes(field));
  return {
    ...Object.fromEntries(kept),
    version: rest.version,
    bin: { memory: 'memory.mjs' },
  };
}
