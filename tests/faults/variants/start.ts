import { join } from 'node:path';
import type { RunningServer } from '../../../server/main.ts';
import type { Spec } from '../serve.ts';
import { applyVariants, chooseVariants } from './apply.ts';

const inEveryThread = join(import.meta.dir, 'preload.ts');

/** Starts the service with the variants applied to this thread and all threads that it starts. */
export async function startVariant({ env, ...spec }: Spec): Promise<RunningServer> {
  const chosen = chooseVariants(spec.variants);
  process.env.FAULT_VARIANTS = spec.variants.join();
  if (chosen.length > 0) applyVariants(chosen);
  // The import must follow `applyVariants`, so that the modules find the replaced values.
  const { startServer } = await import('../../../server/main.ts');
  const preload = chosen.length > 0 ? [inEveryThread] : [];
  const settings = Object.assign({}, env, ...chosen.map((variant) => variant.env));
  return startServer({ ...spec, env: settings, onFatal: 'exit', preload });
}
