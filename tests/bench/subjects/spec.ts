import { readFileSync } from 'node:fs';

/** Reads the spec passed to `startSubject` from the file named by the process's only argument. */
export function readSpec<T>(): T {
  return JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as T;
}
