import { lstatSync } from 'node:fs';

/*
 * Detects whether the database file has been moved, removed or replaced. SQLite would keep writing
 * to the old file, and those writes would be missing after the next start.
 */

/** Returns why the file must no longer be written to, or null. */
export type FileCheck = () => string | null;

/** Records the inodes of the file and its WAL. Both exist once the database is open for writing. */
export function watchFile(path: string): FileCheck {
  const watched = [path, `${path}-wal`].map((name) => ({ name, inode: inodeOf(name) }));
  return () => {
    for (const { name, inode } of watched) {
      const now = inodeOf(name);
      if (now === inode) continue;
      return now === null
        ? `${name} was moved or removed while the service was running; restore it, or stop the service`
        : `${name} was replaced while the service was running; restore the original file, or stop the service`;
    }
    return null;
  };
}

/** Does not follow a link: a moved file behind a link would lack its WAL at the next start. */
function inodeOf(path: string): string | null {
  const file = lstatSync(path, { throwIfNoEntry: false });
  return file === undefined ? null : `${file.dev}:${file.ino}`;
}
