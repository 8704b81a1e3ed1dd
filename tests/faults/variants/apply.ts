import type { Handler } from '../../../server/tasks/handlers.ts';
import { patchSource } from './patch.ts';
import { interceptSql } from './statements.ts';
import { type Variant, variants } from './table.ts';

export function chooseVariants(names: string[]): Variant[] {
  return names.map((name) => {
    const variant = variants[name];
    if (variant === undefined) throw new Error(`unknown variant ${name}`);
    return variant;
  });
}

/** Applies the variants to this thread. Modules loaded after this call are patched. */
export function applyVariants(chosen: Variant[]): void {
  const faultHandler = (inner: Handler) =>
    chosen.reduce((handler, variant) => variant.handler?.(handler) ?? handler, inner);
  Object.assign(globalThis, { faultHandler });
  const hooks = chosen.flatMap((variant) => variant.hooks ?? []);
  const rewrites = chosen.flatMap((variant) => variant.sql ?? []);
  if (hooks.length + rewrites.length > 0) interceptSql({ hooks, rewrites });
  for (const { prepare } of chosen) prepare?.();
  patchSource(
    patchesOf(chosen),
    chosen.flatMap((variant) => variant.swaps ?? []),
  );
}

/**
 * Returns the patches of the variants without duplicates, because two variants may share a patch.
 */
export function patchesOf(chosen: Variant[]) {
  return [...new Set(chosen.flatMap((variant) => variant.patches ?? []))];
}
