import { Database } from 'bun:sqlite';
import type { Stats } from 'node:fs';

/** The first stat result of each database file. */
const first = new Map<string, Stats>();

/** Reports the database file as present and unchanged, even if it was moved or replaced. */
export function frozen(path: unknown, look: () => Stats | undefined): Stats | undefined {
  if (!String(path).endsWith('memory.db')) return look();
  const before = first.get(String(path));
  let now: Stats | undefined;
  try {
    now = look();
  } catch (error) {
    if (before === undefined) throw error;
  }
  if (before === undefined && now !== undefined) first.set(String(path), now);
  return before === undefined || now === undefined ? (now ?? before) : sameFile(now, before);
}

/** Like `frozen`, for an asynchronous call. */
export async function frozenLater(path: unknown, look: () => Promise<Stats>): Promise<Stats> {
  const now = await look().catch((error: unknown) => error);
  return frozen(path, () => {
    if (now instanceof Error) throw now;
    return now as Stats;
  }) as Stats;
}

function sameFile(now: Stats, { dev, ino }: Stats): Stats {
  return Object.assign(now, { dev, ino });
}

/** Makes SQLITE_FCNTL_HAS_MOVED always report that the file has not moved. */
export function hideMoves(): void {
  Database.prototype.fileControl = () => 0;
}
