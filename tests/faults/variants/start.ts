import type { RunningServer } from '../../../server/main.ts';
import type { Spec } from '../serve.ts';
import { patchSource } from './patch.ts';
import type { Index } from './splits.ts';
import { variants } from './table.ts';

/** The service with the named variants laid over it. */
export async function startVariant({ env, ...spec }: Spec): Promise<RunningServer> {
  const chosen = spec.variants.map((name) => {
    const variant = variants[name];
    if (variant === undefined) throw new Error(`there is no variant ${name}`);
    return variant;
  });
  const faultIndex = (inner: Index) =>
    chosen.reduce((index, variant) => variant.index?.(index) ?? index, inner);
  Object.assign(globalThis, { faultIndex });
  for (const { prepare } of chosen) prepare?.();
  // Two variants may want the same change.
  const patches = chosen.flatMap((variant) => variant.patches ?? []);
  patchSource(patches.filter((patch, index) => patches.indexOf(patch) === index));
  // Loaded now, so that it is loaded as changed.
  const { startServer } = await import('../../../server/main.ts');
  const settings = Object.assign({}, env, ...chosen.map((variant) => variant.env));
  return startServer({ ...spec, env: settings });
}
