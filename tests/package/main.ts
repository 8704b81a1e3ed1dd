import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { $ } from 'bun';
import { type Case, runCases } from '../support/cases.ts';
import { startTestServer } from '../support/server.ts';
import { browserCases, startPageServer } from './browser.ts';
import { imageCases } from './image.ts';
import { installedCases } from './installed.ts';
import { emptyProject } from './project.ts';
import { type Packed, runtimeCases } from './runtimes.ts';
import { typeCases } from './types.ts';

/*
 * Installs and runs the packages as users do. Needs a registry and Chromium, and takes a few
 * minutes. An argument selects the cases with that text in their names.
 */

const root = join(import.meta.dir, '../..');

function lintCases({ sdk }: Packed): Case[] {
  const lint = (name: string, ...command: string[]): Case => ({
    name,
    async run() {
      await using project = await emptyProject();
      await project.run(['npx', '--yes', ...command]);
      return command.join(' ').replace(sdk, basename(sdk));
    },
  });
  return [
    lint('publint', 'publint@0.3.25', 'run', sdk, '--strict'),
    // The SDK is ESM only: import works on every version, require() from Node 20.19.
    lint('are the types wrong', '@arethetypeswrong/cli@0.18.5', sdk, '--profile', 'esm-only'),
  ];
}

async function pack(): Promise<Packed> {
  await $`${process.execPath} .release/pack.ts linux-x64`.cwd(root).quiet();
  const { version } = await Bun.file(join(root, 'package.json')).json();
  const made = (name: string) => join(root, 'dist', name);
  return {
    sdk: made(`memory-service-sdk-${version}.tgz`),
    service: made(`memory-service-${version}.tgz`),
    executable: made(`memory-${version}-linux-x64`),
  };
}

async function main(wanted: string[]): Promise<void> {
  const packed = await pack();
  const pages = startPageServer();
  const server = await startTestServer({ MEMORY_CORS_ORIGINS: pages.origin });
  const cases = [
    ...runtimeCases(packed, server),
    ...browserCases(packed, server, pages),
    ...typeCases(packed),
    ...lintCases(packed),
    ...installedCases(packed),
    ...imageCases,
  ];
  for (const file of Object.values(packed)) {
    console.log(`${basename(file)}: ${(await stat(file)).size.toLocaleString('en')} bytes`);
  }
  await runCases(cases, wanted);
  await pages.stop();
  await server.stop();
}

await main(process.argv.slice(2));
