import { isObject } from '../terminal/json.ts';
import type { Table } from './entry.ts';

/* Edits settings in TOML. Replaces or appends our sections and keeps all other text. */

export function parseToml(text: string): Table | undefined {
  try {
    return Bun.TOML.parse(text) as Table;
  } catch {
    return undefined;
  }
}

export function tomlProblem(text: string): string | undefined {
  return parseToml(text) === undefined ? 'is not valid TOML' : undefined;
}

/** Returns the text with the section at this path replaced, or appended if it is missing. */
export function editToml(text: string, path: string[], value: Table): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const section = sectionOf(path, value);
  const begin = lines.findIndex((line) => isUnder(path, line));
  if (begin < 0) {
    const gap = lines.length === 0 ? [] : [''];
    return `${[...lines, ...gap, ...section].join('\n')}\n`;
  }
  const next = lines.findIndex((line, index) => index > begin && isOther(path, line));
  const own = lines.slice(begin, next < 0 ? undefined : next);
  // Comments before the next section belong to that section.
  const length = own.findLastIndex((line) => !/^\s*(?:#|$)/.test(line)) + 1;
  const comments = own.slice(0, length).filter((line) => /^\s*#/.test(line));
  const kept = [lines.slice(0, begin), comments, section, lines.slice(begin + length)];
  return `${kept.flat().join('\n')}\n`;
}

const header = /^\s*\[\[?\s*([^\]]*?)\s*\]/;

function isUnder(path: string[], line: string): boolean {
  const [, name] = header.exec(line) ?? [];
  const own = path.join('.');
  return name === own || name?.startsWith(`${own}.`) === true;
}

function isOther(path: string[], line: string): boolean {
  return header.test(line) && !isUnder(path, line);
}

function sectionOf(path: string[], table: Table): string[] {
  const entries = Object.entries(table);
  const values = entries.filter(([, value]) => !isObject(value));
  const tables = entries.filter(([, value]) => isObject(value));
  return [
    `[${path.map(keyOf).join('.')}]`,
    ...values.map(([name, value]) => `${keyOf(name)} = ${literal(value)}`),
    ...tables.flatMap(([name, value]) => ['', ...sectionOf([...path, name], value as Table)]),
  ];
}

function keyOf(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

/** Strings, numbers, booleans and lists of them have the same syntax as in JSON. */
function literal(value: unknown): string {
  return JSON.stringify(value);
}
