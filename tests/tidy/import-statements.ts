import { posix } from 'node:path';
import { lineOf, type Source } from './source.ts';

export type Import = { target: string; kind: 'value' | 'type' | 'late'; line: number };

const statement =
  /^(?:im|ex)port(\s+type\b)?[^;'"]*?\bfrom '(.+?)'|^import '(.+?)'|\bimport\(\s*'(.+?)'/gm;

export function importsOf({ path, text }: Source): Import[] {
  return Array.from(text.matchAll(statement), ({ 1: type, 2: from, 3: alone, 4: late, index }) => {
    const name = from ?? alone ?? late ?? '';
    const target = name.startsWith('.') ? posix.join(posix.dirname(path), name) : name;
    const kind = late !== undefined ? 'late' : type !== undefined ? 'type' : 'value';
    return { target, kind, line: lineOf(text, index) };
  });
}
