import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningServer } from '../../../server/main.ts';
import type { Spec } from '../serve.ts';
import { applyVariants, chooseVariants, patchesOf } from './apply.ts';
import { loaded, notesSetting, readNotes } from './notes.ts';
import type { Patch } from './patch.ts';

const inEveryThread = join(import.meta.dir, 'preload.ts');

/** Starts the service with the variants applied to this thread and all threads that it starts. */
export async function startVariant({ env, preload, ...spec }: Spec): Promise<RunningServer> {
  const chosen = chooseVariants(spec.variants);
  const folder = mkdtempSync(join(tmpdir(), 'memory-variant-'));
  const notes = process.env[notesSetting] ?? join(folder, 'notes');
  writeFileSync(notes, '');
  process.env[notesSetting] = notes;
  process.env.FAULT_VARIANTS = spec.variants.join();
  try {
    applyVariants(chosen);
    // The import must follow `applyVariants`, so that the loaded modules are patched.
    const { startServer } = await import('../../../server/main.ts');
    const settings = Object.assign({}, env, ...chosen.map((variant) => variant.env));
    const modules = [...(chosen.length > 0 ? [inEveryThread] : []), ...(preload ?? [])];
    const server = await startServer({ ...spec, env: settings, ...{ preload: modules } });
    assertLoaded(patchesOf(chosen), notes);
    return server;
  } finally {
    if (notes.startsWith(folder)) delete process.env[notesSetting];
    rmSync(folder, { recursive: true });
  }
}

/** Throws if any patched file was not loaded, because its patch then had no effect. */
function assertLoaded(patches: Patch[], notes: string): void {
  const noted = readNotes(notes);
  const missing = patches.map(([path]) => path).filter((path) => !noted.has(loaded(path)));
  if (missing.length > 0) throw new Error(`no thread loaded patched files: ${missing.join(' ')}`);
}
