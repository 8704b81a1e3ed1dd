import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { loaded, note } from './notes.ts';

/** A change to a line of the service: its file, the original text and the replacement. */
export type Patch = [file: string, from: string, to: string];

/** Replaces an imported module, for example `node:fs`, in the whole service. */
export type Swap = [specifier: string, file: string];

const root = join(import.meta.dir, '../../..');

export function isFound([file, from]: Patch): boolean {
  return readFileSync(join(root, file), 'utf8').includes(from);
}

export function isImported([specifier]: Swap): boolean {
  return sources('server').some((path) => importOf(specifier).test(readFileSync(path, 'utf8')));
}

function sources(folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.(ts|sql)$/.test(name)).map((name) => join(root, folder, name));
}

/**
 * Changes the source of the service while this thread loads it, so that the service needs no option
 * to remove a protection. Throws if a patch matches nothing.
 */
export function patchSource(patches: Patch[], swaps: Swap[] = []): void {
  const texts = new Map<string, string>();
  for (const [file, from, to] of patches) {
    const path = join(root, file);
    const text = texts.get(path) ?? readFileSync(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} does not contain: ${from}`);
    texts.set(path, text.replaceAll(from, to));
  }
  const swapped =
    swaps.length === 0 ? [] : sources('server').filter((path) => path.endsWith('.ts'));
  for (const path of new Set([...texts.keys(), ...swapped])) {
    const original = readFileSync(path, 'utf8');
    const text = swapImports(texts.get(path) ?? original, swaps);
    if (text !== original) loadInstead(path, text);
  }
}

function loadInstead(path: string, text: string): void {
  const isSql = path.endsWith('.sql');
  const contents = isSql ? `export default ${JSON.stringify(text)}` : text;
  Bun.plugin({
    name: path,
    setup(build) {
      build.onLoad({ filter: new RegExp(`^${RegExp.escape(path)}$`) }, () => {
        note(loaded(relative(root, path)));
        return { contents, loader: isSql ? 'js' : 'ts' };
      });
    },
  });
}

function importOf(specifier: string): RegExp {
  return new RegExp(`from '${RegExp.escape(specifier)}'`, 'g');
}

function swapImports(text: string, swaps: Swap[]): string {
  return swaps.reduce(
    (changed, [specifier, file]) =>
      changed.replace(importOf(specifier), `from ${JSON.stringify(join(root, file))}`),
    text,
  );
}
