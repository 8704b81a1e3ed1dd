import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A change to a line of the service: its file, the text that is there, and what replaces it. */
export type Patch = [file: string, from: string, to: string];

const root = join(import.meta.dir, '../../..');

export function isFound([file, from]: Patch): boolean {
  return readFileSync(join(root, file), 'utf8').includes(from);
}

/**
 * Changes the service's source on its way into this process, so that a protection can be taken out
 * without a switch in the service. A patch that finds nothing to change would make a control that
 * proves nothing, so it throws.
 */
export function patchSource(patches: Patch[]): void {
  const texts = new Map<string, string>();
  for (const [file, from, to] of patches) {
    const path = join(root, file);
    const text = texts.get(path) ?? readFileSync(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} does not hold: ${from}`);
    texts.set(path, text.replaceAll(from, to));
  }
  for (const [path, contents] of texts) {
    const filter = new RegExp(`^${RegExp.escape(path)}$`);
    const isText = path.endsWith('.sql');
    const module = isText ? `export default ${JSON.stringify(contents)}` : contents;
    const loaded = { contents: module, loader: isText ? 'js' : 'ts' } as const;
    Bun.plugin({
      name: path,
      setup(build) {
        build.onLoad({ filter }, () => loaded);
      },
    });
  }
}
