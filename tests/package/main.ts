import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { $ } from 'bun';
import { runCases } from '../support/cases.ts';
import { startTestServer } from '../support/server.ts';
import { inChromium, sizeOfBundle, startPageServer } from './browser.ts';
import { buildAndServe } from './image.ts';
import { asOneFile, byNpm, globally, withMcp, withThreads } from './installed.ts';
import { emptyProject } from './project.ts';
import { onBun, onMiniflare, onNewestNode, onNode } from './runtimes.ts';
import { compileWithAll, versions } from './types.ts';

/*
 * Installs and runs the packages as users do. Needs a registry and Chromium, and takes a few
 * minutes. An argument selects the cases with that text in their names.
 */

const root = join(import.meta.dir, '../..');

async function pack() {
  await $`${process.execPath} .release/pack.ts linux-x64`.cwd(root).quiet();
  const { version } = await Bun.file(join(root, 'package.json')).json();
  const made = (name: string) => join(root, 'dist', name);
  return {
    sdk: made(`memory-service-sdk-${version}.tgz`),
    service: made(`memory-service-${version}.tgz`),
    executable: made(`memory-${version}-linux-x64`),
  };
}

const packed = await pack();
const { sdk, service, executable } = packed;
const pages = startPageServer();
const { origin } = pages.url;
const server = await startTestServer({ MEMORY_CORS_ORIGINS: origin });

async function npx(...command: string[]): Promise<string> {
  await using project = await emptyProject();
  await project.run(['npx', '--yes', ...command]);
  return command.join(' ').replace(sdk, basename(sdk));
}

/** Each returns a summary, or throws if the test fails. */
const cases: Record<string, () => Promise<string>> = {
  Bun: () => onBun(sdk, server),
  'installed Node': () => onNode(sdk, server, ['node']),
  'newest Node from the registry': () => onNewestNode(sdk, server),
  'worker runtime (Miniflare)': () => onMiniflare(sdk, server),
  'bundle in Chromium': () => inChromium(sdk, server, origin),
  'bundle, minified': () => sizeOfBundle(sdk),
  [`TypeScript ${versions.join(', ')}`]: () => compileWithAll(sdk),
  publint: () => npx('publint@0.3.25', 'run', sdk, '--strict'),
  // The SDK is ESM only: import works on every version, require() from Node 20.19.
  'are the types wrong': () => npx('@arethetypeswrong/cli@0.18.5', sdk, '--profile', 'esm-only'),
  'npm install of the service': () => byNpm(service),
  'without install scripts': () => byNpm(service, '--ignore-scripts'),
  'npm install -g': () => globally(service),
  executable: () => asOneFile(executable),
  'threads of the executable': () => withThreads(executable),
  'MCP of the executable': () => withMcp(executable),
  image: buildAndServe,
};

for (const file of Object.values(packed)) {
  console.log(`${basename(file)}: ${(await stat(file)).size.toLocaleString('en')} bytes`);
}
const listed = Object.entries(cases).map(([name, run]) => ({ name, run }));
await runCases(listed, process.argv.slice(2));
await pages.stop();
await server.stop();
