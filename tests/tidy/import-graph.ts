import { posix } from 'node:path';
import { lineOf, type Source } from './source.ts';

export type Import = { target: string; kind: 'value' | 'type' | 'late'; line: number };

const statement =
  /(?:^|\n)(?:import|export)(\s+type\b)?[^;'"]*?\bfrom\s+'( *)'|(?:^|\n)import\s+'( *)'|\bimport\(\s*'( *)'/dg;

export function importsOf({ path, text, code }: Source): Import[] {
  return [...code.matchAll(statement)].map((match): Import => {
    const range = match.indices?.slice(2).find((one) => one !== undefined);
    const [begin, end] = range ?? [match.index, match.index];
    const name = text.slice(begin, end);
    const target = name.startsWith('.') ? posix.join(posix.dirname(path), name) : name;
    const kind = match[4] !== undefined ? 'late' : match[1] !== undefined ? 'type' : 'value';
    return { target, kind, line: lineOf(text, begin) };
  });
}

/**
 * Returns the files that import each other in a circle, and those on a path between two circles.
 * Imports of types and imports on demand count, too.
 */
export function circular(sources: readonly Source[]): string[] {
  const left = new Map(
    sources.map((one) => [one.path, new Set(importsOf(one).map(({ target }) => target))]),
  );
  const isDone = (path: string, targets: Set<string>) =>
    targets.isDisjointFrom(left) || !left.values().some((others) => others.has(path));
  for (let before = 0; before !== left.size; ) {
    before = left.size;
    for (const [path, targets] of left) if (isDone(path, targets)) left.delete(path);
  }
  return [...left.keys()];
}
