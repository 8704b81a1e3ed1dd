import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs';

/** A mistake that an operator might make with the files of a running server. */
export type Act = { name: string; do(path: string, other: string): void };

const withLog = ['', '-wal', '-shm'];
const awayFrom = (path: string) => `${path}.away`;

export const acts: Act[] = [
  { name: 'mv', do: (path) => move(path, awayFrom(path), ['']) },
  {
    name: 'mv, then ln -s',
    do(path) {
      move(path, awayFrom(path), ['']);
      symlinkSync(awayFrom(path), path);
    },
  },
  { name: 'mv with WAL', do: (path) => move(path, awayFrom(path), withLog) },
  { name: 'rm', do: (path) => rmSync(path) },
  {
    name: 'rm with WAL',
    do(path) {
      for (const end of withLog) rmSync(path + end, { force: true });
    },
  },
  { name: 'rename another file over it', do: (path, other) => renameSync(other, path) },
];

/** Whether the act only moves files, so that moving them back must restore all data. */
export function isLossless({ name }: Act): boolean {
  return name.startsWith('mv');
}

/** Moves the files back. A link in the place of a file is replaced. */
export function bringBack(path: string): void {
  move(awayFrom(path), path, withLog);
}

function move(from: string, to: string, ends: string[]): void {
  for (const end of ends) if (existsSync(from + end)) renameSync(from + end, to + end);
}
