import { unknownPosition } from './refusals.ts';
import type { StoredMemory } from './types/memories.ts';

/* Positions mark where the next page starts. Cursors contain them, so clients can forge them. */

/** Returns the position after a memory in a list ordered by creation time. */
export function listPosition({ createdAt, id }: Pick<StoredMemory, 'createdAt' | 'id'>): string {
  return `${createdAt} ${id}`;
}

export function parseListPosition(position: string): [createdAt: number, id: string] {
  const [createdAt, id = ''] = parsePosition(position, /^(-?\d{1,16}) (mem_[\w-]+)$/);
  return [Number(createdAt), id];
}

/** Returns the capture groups. Throws `invalid_request` if the position does not match. */
function parsePosition(position: string, pattern: RegExp): string[] {
  const match = pattern.exec(position);
  if (match === null) throw unknownPosition();
  return match.slice(1);
}

/** Returns the position after a memory in the order of users, and in each by creation time. */
export function exportPosition({
  userId,
  createdAt,
  id,
}: Pick<StoredMemory, 'userId' | 'createdAt' | 'id'>): string {
  return `${createdAt} ${id} ${userId}`;
}

export function parseExportPosition(position: string): [string, number, string] {
  const pattern = /^(-?\d{1,16}) (mem_[\w-]+) (.+)$/s;
  const [createdAt, id = '', userId = ''] = parsePosition(position, pattern);
  return [userId, Number(createdAt), id];
}
