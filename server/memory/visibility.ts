import type { NewMemory } from '../storage/types/memories.ts';

/** Whether the memory has expired. Maintenance deletes it later. */
export function isExpired({ expiresAt }: Pick<NewMemory, 'expiresAt'>, at: number): boolean {
  return expiresAt !== null && expiresAt <= at;
}

/** Whether an API key may access the user's data. `onlyUserId` is the key's bound user, if any. */
export function mayAccess(
  onlyUserId: string | null | undefined,
  { userId }: { userId: string },
): boolean {
  return onlyUserId == null || onlyUserId === userId;
}
