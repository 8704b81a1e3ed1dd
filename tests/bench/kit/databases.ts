import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fill } from './fill.ts';
import { showCount } from './numbers.ts';

/** Databases filled to a size when they are first asked for; kept where `folder` is. */
export function createDatabases(folder: string, scratch: string, say: (text: string) => void) {
  mkdirSync(folder, { recursive: true });
  const ready = new Map<number, string>();
  let copies = 0;

  async function database(count: number): Promise<string> {
    const known = ready.get(count);
    if (known !== undefined) return known;
    const path = join(folder, `memories-${count}.db`);
    say(`  filling a database to ${showCount(count)}`);
    fill(path, count);
    ready.set(count, path);
    return path;
  }

  async function copyOf(count: number): Promise<string> {
    const from = await database(count);
    copies += 1;
    const path = join(scratch, `copy-${copies}.db`);
    copyFileSync(from, path);
    return path;
  }

  return { database, copyOf };
}
