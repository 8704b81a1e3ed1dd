import { chmodSync, chownSync, lchownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ownership } from './access.ts';

/*
 * Root may administer the database of a service that runs as another user. The files that root
 * creates must then belong to that user, or the service could not open them.
 */

const isRoot = () => process.geteuid?.() === 0;

/** Throws if the file belongs to another user, for whom only root can create a file. */
export function assertReplaceable(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || isRoot() || file.uid === process.geteuid?.()) return;
  throw new Error(
    `permission denied: ${path} is ${ownership(file)}. Run the command as its owner or as root.`,
  );
}

/**
 * Gives the copy the owner and mode of the file that it replaces. If there is no such file, root
 * gives the copy to the owner of the folder.
 */
export function keepOwner(copy: string, replaced: string): void {
  const file = statSync(replaced, { throwIfNoEntry: false });
  if (file !== undefined) chmodSync(copy, file.mode & 0o777);
  else if (!isRoot()) return;
  const { uid, gid } = file ?? statSync(dirname(replaced));
  const own = statSync(copy);
  if (own.uid !== uid || own.gid !== gid) chownSync(copy, uid, gid);
}

/** If this process runs as root, gives the file to the owner of the database or its folder. */
export function shareWithOwner(file: string, path: string): void {
  if (!isRoot()) return;
  const { uid, gid } = statSync(path, { throwIfNoEntry: false }) ?? statSync(dirname(path));
  try {
    lchownSync(file, uid, gid);
  } catch {
    // Ignore EPERM: in containers without CAP_CHOWN, root already owns the files.
  }
}
