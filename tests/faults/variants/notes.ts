import { appendFileSync, readFileSync } from 'node:fs';

/*
 * Each thread of a patched service records the patches that took effect. A patch that has no
 * effect is an error, because the control would then prove nothing.
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
