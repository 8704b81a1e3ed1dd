import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { $, Glob } from 'bun';
import { readManifest, root } from './staging.ts';

/**
 * Builds the wheels and the source distributions of the Python SDK and of the adapters in Python,
 * with the build backend that pyproject.toml pins. The same contents produce the same bytes. Needs
 * Python and a package index.
 */
export async function packPython(dist: string): Promise<string[]> {
  const { version } = await readManifest('package.json');
  const folder = await mkdtemp(join(tmpdir(), 'memory-python-'));
  try {
    const python = process.env.PYTHON ?? 'python3';
    const [backend] = (await readProject('sdk/python'))['build-system'].requires;
    const modules = join(folder, 'modules');
    await $`${python} -m pip install --quiet --target ${modules} ${backend}`.quiet();
    const made: string[] = [];
    for (const source of ['sdk/python', ...adapters()]) {
      await stage(join(folder, source), source, version);
      await $`${python} -m hatchling build -d ${dist}`
        .env({ ...process.env, PYTHONPATH: modules })
        .cwd(join(folder, source))
        .quiet();
      const name = (await readProject(source)).project.name.replaceAll('-', '_');
      made.push(join(dist, `${name}-${version}-py3-none-any.whl`));
      made.push(join(dist, `${name}-${version}.tar.gz`));
    }
    return made;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function adapters(): string[] {
  return [...new Glob('sdk/adapters/*/pyproject.toml').scanSync(root)].sort().map(dirname);
}

async function stage(folder: string, source: string, version: string): Promise<void> {
  const versioned = source === 'sdk/python' ? 'memory_service/request.py' : 'pyproject.toml';
  const text = await Bun.file(join(root, source, versioned)).text();
  if (!text.toLowerCase().includes(`\nversion = "${version}"`)) {
    throw new Error(`${source} must have version ${version}`);
  }
  for (const pattern of ['pyproject.toml', 'README.md', 'memory_service*/*']) {
    for (const path of new Glob(pattern).scanSync(join(root, source))) {
      await Bun.write(join(folder, path), Bun.file(join(root, source, path)));
    }
  }
  await Bun.write(join(folder, 'LICENSE'), Bun.file(join(root, 'LICENSE')));
}

type Project = { 'build-system': { requires: [string] }; project: { name: string } };

async function readProject(source: string): Promise<Project> {
  const text = await Bun.file(join(root, source, 'pyproject.toml')).text();
  return Bun.TOML.parse(text) as Project;
}
