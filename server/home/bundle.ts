import { join } from 'node:path';

/** The scripts of the console and the API reference, and their style sheet. */
export type Bundle = { console: string; docs: string; style: string };

/**
 * Bundles the console and the API reference. In a clone, this happens on the first request. A
 * release contains the result instead of this module. Throws if packages are missing.
 */
export async function bundlePages(): Promise<Bundle> {
  const root = join(import.meta.dir, '../console');
  const { outputs } = await Bun.build({
    entrypoints: [join(root, 'main.tsx'), join(root, 'docs.tsx')],
    root,
    target: 'browser',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  async function read(path: string): Promise<string> {
    const output = outputs.find((one) => one.path === path);
    if (output === undefined) throw new Error(`the bundle does not contain ${path}`);
    return output.text();
  }
  return {
    console: await read('./main.js'),
    docs: await read('./docs.js'),
    style: await read('./main.css'),
  };
}
