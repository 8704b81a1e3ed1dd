import { join } from 'node:path';
import type { BunPlugin } from 'bun';
import { bundlePages } from '../server/home/bundle.ts';
import { root } from './staging.ts';

/** The module that bundles the console in a clone, relative to the root. */
export const bundleModule = 'server/home/bundle.ts';

/** Returns the module that takes its place in a release. It contains the bundle. */
export async function bundledPages(): Promise<string> {
  const bundle = JSON.stringify(await bundlePages());
  return `const bundle = ${bundle};\nexport const bundlePages = async () => bundle;\n`;
}

/** Uses the module in an executable. Its code is an argument, because builds cannot be nested. */
export function withBundledPages(contents: string): BunPlugin {
  return {
    name: 'with-bundled-pages',
    setup(build) {
      build.onLoad({ filter: /[\\/]server[\\/]home[\\/]bundle\.ts$/ }, ({ path }) =>
        path === join(root, bundleModule) ? { contents, loader: 'js' } : undefined,
      );
    },
  };
}
