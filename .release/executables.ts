import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { bundledPages, withBundledPages } from './console.ts';
import { readManifest, root } from './staging.ts';

export const targets = [
  'linux-x64',
  'linux-arm64',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'windows-x64',
] as const;
export type Target = (typeof targets)[number];

/** The release target for this machine; undefined if there is none. */
export const hostTarget = targets.find(
  (target) => target === `${process.platform.replace('win32', 'windows')}-${process.arch}`,
);

/**
 * Builds an executable that contains the CLI and the service. A musl executable needs libstdc++.
 */
export async function buildExecutable(dist: string, target: Target): Promise<string> {
  const { version } = await readManifest('package.json');
  const extension = target.startsWith('windows') ? '.exe' : '';
  const file = join(dist, `memory-${version}-${target}${extension}`);
  const threads = [...new Bun.Glob('server/**/{thread,*-thread}.ts').scanSync({ cwd: root })];
  await Bun.build({
    entrypoints: ['cli/main.ts', ...threads].map((path) => join(root, path)),
    root,
    target: 'bun',
    format: 'esm',
    // With splitting, each thread has its own entry point, and a command loads only the code that
    // it needs. Bytecode shortens the startup time.
    splitting: true,
    minify: true,
    bytecode: true,
    compile: {
      target: `bun-${target}`,
      outfile: file,
      // A bunfig.toml or .env in the working directory must not configure the program.
      autoloadBunfig: false,
      autoloadDotenv: false,
    },
    plugins: [withBundledPages(await bundledPages())],
  });
  await chmod(file, 0o755);
  return file;
}
