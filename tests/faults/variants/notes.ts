import { appendFileSync, readFileSync } from 'node:fs';

/*
 * Every thread of a patched service records which patches took effect in it. A patch that matches
 * nothing is an error, because its control would prove nothing.
 */
export const notesSetting = 'FAULT_NOTES';

const noted = new Set<string>();

export function note(line: string): void {
  const file = process.env[notesSetting];
  if (file === undefined || noted.has(line)) return;
  noted.add(line);
  appendFileSync(file, `${line}\n`);
}

export function readNotes(file: string): Set<string> {
  return new Set(readFileSync(file, 'utf8').split('\n'));
}

export const loaded = (path: string) => `loaded ${path}`;
export const matched = (sql: RegExp) => `matched ${sql}`;
