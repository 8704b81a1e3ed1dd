import { readFileSync } from 'node:fs';

/** Reads what `startSubject` was given: its file is the one argument of the process. */
export function readSpec<T>(): T {
  return JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as T;
}
