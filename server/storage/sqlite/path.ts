import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * The one name of a database file, whatever links lead to it: the lock is named after it, and two
 * names would be two locks. Makes the folder where there is none.
 */
export function canonicalPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  mkdirSync(dirname(path), { recursive: true });
  return join(realpathSync(dirname(path)), basename(path));
}
