import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { $ } from 'bun';
import { packAdapters } from './adapters.ts';
import { buildExecutable, hostTarget, type Target, targets } from './executables.ts';
import { writeNotices } from './notices.ts';
import { packPython } from './python.ts';
import { writeSbom } from './sbom.ts';
import { packSdk } from './sdk.ts';
import { packService } from './service.ts';
import { root } from './staging.ts';
import { sizeOf, writeChecksums } from './sums.ts';

/*
 * `npm run pack` writes all release files to dist/.
 *
 * npm run pack                    everything
 * npm run pack -- linux-x64       the tarballs and only this executable
 * npm run pack -- none            only the tarballs
 *
 * The Python packages are packed if Python is installed.
 */

const dist = join(root, 'dist');

async function main(names: string[]): Promise<void> {
  const wanted = chosen(names);
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  const made = [await packSdk(dist), await packService(dist), ...(await packAdapters(dist))];
  const missing: string[] = [];
  made.push(...(await packPython(dist).catch(reportNoPython)));
  for (const target of wanted) {
    const file = await buildExecutable(dist, target).catch((error) => {
      missing.push(`${target}: ${error instanceof Error ? error.message : error}`);
      return null;
    });
    if (file !== null) made.push(file);
  }
  made.push(await writeNotices(dist), await writeSbom(dist));
  await cp(join(root, 'LICENSE'), join(dist, 'LICENSE'));
  for (const file of made) console.log(`${(await sizeOf(file)).padStart(10)}  ${file}`);
  await writeChecksums(dist);
  if (missing.length === 0) return;
  console.error(`\nFailed to build ${missing.length} executables:\n  ${missing.join('\n  ')}`);
  // Only the executable for this machine is required. For the others, Bun downloads its runtimes,
  // which may fail.
  if (missing.some((line) => line.startsWith(`${hostTarget}:`))) process.exitCode = 1;
}

function reportNoPython(error: unknown): string[] {
  const output = error instanceof $.ShellError ? error.stderr.toString().trim() : '';
  const reason = error instanceof Error ? error.message : String(error);
  console.error(`The Python packages were not packed: ${output.split('\n').at(-1) || reason}`);
  return [];
}

function chosen(names: string[]): Target[] {
  const unknown = names.filter((name) => name !== 'none' && !targets.some((one) => one === name));
  if (unknown.length > 0) throw new Error(`unknown target: ${unknown}; use ${targets} or none`);
  return names.length === 0 ? [...targets] : targets.filter((target) => names.includes(target));
}

await main(process.argv.slice(2));
