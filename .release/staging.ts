import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from 'bun';

export const root = join(import.meta.dir, '..');

export type Manifest = {
  version: string;
  private?: boolean;
  dependencies?: Record<string, string>;
  [field: string]: unknown;
};

export async function readManifest(path: string): Promise<Manifest> {
  return Bun.file(join(root, path)).json();
}

/** Fills an empty folder and packs it with npm. The same contents produce the same bytes. */
export async function packFolder(
  dist: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'memory-pack-'));
  try {
    await fill(folder);
    const packed = await $`npm pack --json --ignore-scripts --pack-destination ${dist}`
      .cwd(folder)
      .quiet();
    return join(dist, tarballName(packed.stdout.toString()));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** npm 12 and later print a map; earlier versions print a list. */
function tarballName(json: string): string {
  const [packed] = Object.values(JSON.parse(json)) as { filename?: string }[];
  if (packed?.filename === undefined) throw new Error('npm pack did not report a file name');
  return packed.filename;
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await Bun.write(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

export async function copyFiles(folder: string, patterns: string[]): Promise<void> {
  for (const pattern of patterns) {
    for await (const path of new Bun.Glob(pattern).scan({ cwd: root })) {
      await Bun.write(join(folder, path), Bun.file(join(root, path)));
    }
  }
}
