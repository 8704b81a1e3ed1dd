import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './staging.ts';

/** Writes the licences of the bundled packages, which must accompany the executables. */
export async function writeNotices(dist: string): Promise<string> {
  const file = join(dist, 'THIRD-PARTY-NOTICES.txt');
  const texts = await Promise.all((await bundledPackages()).map(notice));
  await Bun.write(file, texts.join(`\n${'-'.repeat(80)}\n\n`));
  return file;
}

async function bundledPackages(): Promise<string[]> {
  const entrypoints = [join(root, 'cli/main.ts')];
  const { metafile } = await Bun.build({ entrypoints, target: 'bun', metafile: true });
  const paths = Object.keys(metafile?.inputs ?? {});
  const names = paths.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  // The executables also contain the Bun runtime.
  return [...new Set([...names, 'bun'])].sort();
}

async function notice(name: string): Promise<string> {
  const folder = join(root, 'node_modules', name);
  const { version, license } = await Bun.file(join(folder, 'package.json')).json();
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const path = file === undefined ? '' : join(folder, file);
  const text = existsSync(path) ? await Bun.file(path).text() : '';
  return `${name} ${version}, ${license}\n\n${text.trim()}\n`;
}
