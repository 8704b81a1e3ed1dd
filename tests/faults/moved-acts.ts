import { existsSync, renameSync, rmSync } from 'node:fs';

/** What somebody may do to the file of a running server. */
export type Act = { name: string; do(path: string, other: string): void };

const withLog = ['', '-wal', '-shm'];
const awayFrom = (path: string) => `${path}.away`;

export const acts: Act[] = [
  { name: 'mv', do: (path) => move(path, awayFrom(path), ['']) },
  { name: 'mv with its log', do: (path) => move(path, awayFrom(path), withLog) },
  { name: 'rm', do: (path) => rmSync(path) },
  {
    name: 'rm with its log',
    do(path) {
      for (const end of withLog) rmSync(path + end, { force: true });
    },
  },
  { name: 'another file over it', do: (path, other) => renameSync(other, path) },
];

/** Whether all is still there, under another name. */
export function isLossless({ name }: Act): boolean {
  return name.startsWith('mv');
}

/** Moves back what was moved away. */
export function bringBack(path: string): void {
  move(awayFrom(path), path, withLog);
}

function move(from: string, to: string, ends: string[]): void {
  for (const end of ends) if (existsSync(from + end)) renameSync(from + end, to + end);
}
