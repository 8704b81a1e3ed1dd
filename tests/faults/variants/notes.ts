import { appendFileSync, readFileSync } from 'node:fs';

/*
 * Each thread of a changed service records the statements and fault points that a variant could
 * change. A change without effect is an error, because the control would then prove nothing.
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

export const reached = (point: string) => `reached ${point}`;
export const matched = (sql: RegExp) => `matched ${sql}`;
