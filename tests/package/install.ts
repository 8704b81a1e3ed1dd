import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { $ } from 'bun';
import { packService } from '../../.release/service.ts';

const root = join(import.meta.dir, '../..');

/** The folder of the installed service, and the command that npm would link. */
export type Installed = { folder: string; memory: string };

/** Packs the service and installs it into a project without a registry. */
export async function installService(project: string): Promise<Installed> {
  const modules = join(project, 'node_modules');
  const folder = join(modules, 'memory-service');
  const memory = join(modules, '.bin/memory');
  await mkdir(folder, { recursive: true });
  await mkdir(join(modules, '.bin'));
  const tarball = await packService(project);
  await $`tar xzf ${tarball} -C ${folder} --strip-components 1`;
  await rm(tarball);
  await symlink('../memory-service/memory.mjs', memory);
  const ofHttp = ['ofetch', 'destr', 'ufo', 'node-fetch-native'];
  const ofMcp = ['@modelcontextprotocol', 'zod'];
  for (const name of ['bun', '@oven', '@sinclair', 'elysia', ...ofHttp, ...ofMcp]) {
    await symlink(join(root, 'node_modules', name), join(modules, name));
  }
  return { folder, memory };
}

/** Runs the install script, as npm does unless scripts are disabled. */
export async function runInstallScript({ folder }: Installed): Promise<void> {
  await $`node postinstall.mjs`.cwd(folder);
}
