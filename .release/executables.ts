import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { $ } from 'bun';
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
  // With splitting, each thread has its own entry point, and a command loads only the code that it
  // needs. Bytecode shortens the startup time.
  const pieces = [`--root=${root}`, '--splitting', '--format=esm', '--minify', '--bytecode'];
  // A bunfig.toml or .env in the working directory must not configure the program.
  const autoload = ['--no-compile-autoload-bunfig', '--no-compile-autoload-dotenv'];
  const alone = [...autoload, `--target=bun-${target}`];
  const threads = [...new Bun.Glob('server/**/thread.ts').scanSync({ cwd: root })].map((path) =>
    join(root, path),
  );
  const built =
    await $`${process.execPath} build --compile ${pieces} ${alone} --outfile ${file} ${join(root, 'cli/main.ts')} ${threads}`
      .cwd(dist)
      .quiet()
      .nothrow();
  if (built.exitCode !== 0) throw new Error(built.stderr.toString().trim());
  await chmod(file, 0o755);
  return file;
}
