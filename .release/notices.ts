import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './staging.ts';

/** The built-in model, relative to the root. */
export const modelFolder = 'server/embeddings/minilm';

/** Writes the licences of the bundled packages and the model, which must accompany both. */
export async function writeNotices(dist: string): Promise<string> {
  const file = join(dist, 'THIRD-PARTY-NOTICES.txt');
  const texts = await Promise.all([...(await bundledPackages()).map(notice), modelNotice()]);
  await Bun.write(file, texts.join(`\n${'-'.repeat(80)}\n\n`));
  return file;
}

async function bundledPackages(): Promise<string[]> {
  const entrypoints = [join(root, 'cli/main.ts'), join(root, 'server/console/main.tsx')];
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

/** The weights were quantized, a change that the licence requires to be stated. */
async function modelNotice(): Promise<string> {
  const text = await Bun.file(join(root, modelFolder, 'LICENSE')).text();
  const name = 'sentence-transformers/all-MiniLM-L6-v2, Apache-2.0, quantized to int8';
  return `${name}\n\n${text.trim()}\n`;
}
