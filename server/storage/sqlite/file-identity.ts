import { statSync } from 'node:fs';

/*
 * Whether the database is still where it was opened. SQLite goes on in a file that was moved,
 * removed or replaced, and what it writes there is lost to the next start.
 */

/** Why the file must not be written to any more, in words; null while all is well. */
export type FileCheck = () => string | null;

/** Remembers the file and its log, which are there once the database was opened for writing. */
export function watchFile(path: string): FileCheck {
  const watched = [path, `${path}-wal`].map((name) => ({ name, inode: inodeOf(name) }));
  return () => {
    for (const { name, inode } of watched) {
      const now = inodeOf(name);
      if (now === inode) continue;
      return now === null
        ? `${name} was moved or removed while the service runs; put it back, or stop the service`
        : `${name} was replaced while the service runs; put the former file back, or stop the service`;
    }
    return null;
  };
}

/** Device and inode; null where there is no such file. */
function inodeOf(path: string): string | null {
  const file = statSync(path, { throwIfNoEntry: false });
  return file === undefined ? null : `${file.dev}:${file.ino}`;
}
