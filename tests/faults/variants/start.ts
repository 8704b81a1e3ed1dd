import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningServer } from '../../../server/main.ts';
import type { Spec } from '../serve.ts';
import { applyVariants, chooseVariants, patchesOf } from './apply.ts';
import { assertLoaded } from './patch.ts';

const inEveryThread = join(import.meta.dir, 'preload.ts');

/** The service with the named variants laid over it, in this thread and in those that it starts. */
export async function startVariant({ env, preload, ...spec }: Spec): Promise<RunningServer> {
  const chosen = chooseVariants(spec.variants);
  const notes = mkdtempSync(join(tmpdir(), 'memory-variant-'));
  process.env.FAULT_VARIANTS = spec.variants.join();
  process.env.FAULT_LOADED = join(notes, 'loaded');
  writeFileSync(process.env.FAULT_LOADED, '');
  try {
    applyVariants(chosen);
    // Loaded now, so that it is loaded as changed.
    const { startServer } = await import('../../../server/main.ts');
    const settings = Object.assign({}, env, ...chosen.map((variant) => variant.env));
    const modules = [...(chosen.length > 0 ? [inEveryThread] : []), ...(preload ?? [])];
    const server = await startServer({ ...spec, env: settings, ...{ preload: modules } });
    assertLoaded(patchesOf(chosen));
    return server;
  } finally {
    // A thread that is started again later has nobody to tell.
    delete process.env.FAULT_LOADED;
    rmSync(notes, { recursive: true });
  }
}
