import { badRequest } from '../errors.ts';
import { unknownPosition } from '../storage/refusals.ts';

/**
 * A cursor contains a position and a hash of the list's parameters. Cursors are not signed, because
 * a forged position gives no access to other data.
 */

/** `list` contains all parameters of the request except cursor and limit. */
export function writeCursor(position: string, list: readonly string[]): string {
  return Buffer.from(JSON.stringify([position, hash(list)])).toString('base64url');
}

/**
 * Returns the position in a cursor, or null if there is no cursor. Throws `invalid_request` if the
 * cursor is malformed or was issued for another list.
 */
export function readCursor(
  cursor: string | null | undefined,
  list: readonly string[],
): string | null {
  if (cursor == null) return null;
  const [position, found] = decode(cursor);
  // No position contains NUL, which some databases reject.
  if (typeof position !== 'string' || position.includes('\0')) throw unknownPosition();
  if (found !== hash(list)) {
    const message =
      'was issued for a different user, order or filter; start again without a cursor';
    throw badRequest('cursor', message);
  }
  return position;
}

function decode(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

function hash(list: readonly string[]): string {
  // mutate-ignore constant: the hash is opaque in any base
  return Bun.hash(JSON.stringify(list)).toString(36);
}
