import { join } from 'node:path';

/** The script and the style sheet of the console. */
export type Bundle = { script: string; style: string };

/**
 * Bundles the console. In a clone, this happens on the first request. A release contains the result
 * instead of this module. Throws an AggregateError if the packages are not installed.
 */
export async function bundleConsole(): Promise<Bundle> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, '../console/main.tsx')],
    target: 'browser',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const [script = '', style = ''] = await Promise.all(outputs.map((output) => output.text()));
  return { script, style };
}
