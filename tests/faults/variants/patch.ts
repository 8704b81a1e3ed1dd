import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A change to a line of the service: its file, the text that is there, and what replaces it. */
export type Patch = [file: string, from: string, to: string];

/** Lets the service import another module in place of one, such as `node:fs`. */
export type Swap = [specifier: string, file: string];

const root = join(import.meta.dir, '../../..');

export function isFound([file, from]: Patch): boolean {
  return readFileSync(join(root, file), 'utf8').includes(from);
}

/** Whether the service's own source has SQL that the pattern matches. */
export function isInSql({ source, flags }: RegExp): boolean {
  const anywhere = new RegExp(source.replace(/^\^/, ''), flags);
  return sources('server').some((path) => anywhere.test(readFileSync(path, 'utf8')));
}

export function isImported([specifier]: Swap): boolean {
  return sources('server').some((path) => importOf(specifier).test(readFileSync(path, 'utf8')));
}

function sources(folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.(ts|sql)$/.test(name)).map((name) => join(root, folder, name));
}

/** Where each thread notes the changed files that it has loaded. */
const loadedFile = () => process.env.FAULT_LOADED;

/**
 * Changes the service's source on its way into this thread, so that a protection can be taken out
 * without a switch in the service. A patch that finds nothing to change would make a control that
 * proves nothing, so it throws.
 */
export function patchSource(patches: Patch[], swaps: Swap[] = []): void {
  const texts = new Map<string, string>();
  for (const [file, from, to] of patches) {
    const path = join(root, file);
    const text = texts.get(path) ?? readFileSync(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} does not hold: ${from}`);
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
        const file = loadedFile();
        if (file !== undefined) appendFileSync(file, `${relative(root, path)}\n`);
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

/** Throws where a changed file was loaded by no thread: then nothing was taken out. */
export function assertLoaded(patches: Patch[]): void {
  const file = loadedFile();
  const loaded = file === undefined ? '' : readFileSync(file, 'utf8');
  const missing = patches.filter(([path]) => !loaded.split('\n').includes(path));
  if (missing.length > 0) throw new Error(`no thread loaded ${missing.map(([path]) => path)}`);
}
