import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $, Glob } from 'bun';
import { readManifest, root } from './staging.ts';

const source = join(root, 'sdk/python');

/**
 * Builds the wheel and the source distribution of the Python SDK in a virtual environment with the
 * build backend that pyproject.toml pins. The same contents produce the same bytes. Needs Python
 * and a package index.
 */
export async function packPython(dist: string): Promise<string[]> {
  const { version } = await readManifest('package.json');
  const folder = await mkdtemp(join(tmpdir(), 'memory-python-'));
  try {
    await stage(join(folder, 'sdk'), version);
    const python = join(folder, 'env/bin/python');
    await $`${process.env.PYTHON ?? 'python3'} -m venv ${join(folder, 'env')}`.quiet();
    await $`${python} -m pip install --quiet ${await buildBackend()}`.quiet();
    await $`${python} -m hatchling build -d ${dist}`.cwd(join(folder, 'sdk')).quiet();
    const made = `memory_service-${version}`;
    return [join(dist, `${made}-py3-none-any.whl`), join(dist, `${made}.tar.gz`)];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function stage(folder: string, version: string): Promise<void> {
  const code = await Bun.file(join(source, 'memory_service/request.py')).text();
  if (!code.includes(`VERSION = "${version}"`)) {
    throw new Error(`the Python SDK must have version ${version}`);
  }
  for (const pattern of ['pyproject.toml', 'README.md', 'memory_service/*.py', '*/py.typed']) {
    for (const path of new Glob(pattern).scanSync(source)) {
      await Bun.write(join(folder, path), Bun.file(join(source, path)));
    }
  }
  await Bun.write(join(folder, 'LICENSE'), Bun.file(join(root, 'LICENSE')));
}

/** Returns the pinned requirement of `[build-system]`. */
async function buildBackend(): Promise<string> {
  const text = await Bun.file(join(source, 'pyproject.toml')).text();
  const { 'build-system': system } = Bun.TOML.parse(text) as {
    'build-system': { requires: [string] };
  };
  return system.requires[0];
}
