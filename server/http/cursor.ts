import { invalid } from './check.ts';

/*
 * A cursor is a position and a mark of the list that it was made for. It is not signed: a made-up
 * one reaches no further than the list it is sent with.
 */

/** `list` is everything but the cursor and the limit that decides which memories come, and how. */
export function writeCursor(position: string, list: readonly string[]): string {
  return Buffer.from(JSON.stringify([position, mark(list)])).toString('base64url');
}

/** Throws `invalid_request` for one that is not ours, or was made for another list. */
export function readCursor(cursor: string, list: readonly string[]): string {
  const [position, found] = parse(cursor);
  if (typeof position !== 'string') {
    throw invalid('cursor', 'is not one that this service gave out');
  }
  if (found !== mark(list)) {
    throw invalid('cursor', 'belongs to a list of another user, order or filter; begin a new walk');
  }
  return position;
}

function parse(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

function mark(list: readonly string[]): string {
  return Bun.hash(JSON.stringify(list)).toString(36);
}
