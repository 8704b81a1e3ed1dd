import type { Memory } from '../../../sdk/index.ts';

/** The `source` of all memories that the tools save. */
export const source = 'mcp';

/** Returns the external id of a memory that is saved without a key. */
export function externalIdOf(normalizedText: string): string {
  const hash = new Bun.CryptoHasher('sha256').update(normalizedText);
  return `${hashPrefix}${hash.digest('base64url')}`;
}

const hashPrefix = 'text:';

export function keyOf(memory: Pick<Memory, 'source' | 'externalId'>): string | null {
  const { externalId } = memory;
  const isKey = memory.source === source && !externalId?.startsWith(hashPrefix);
  return isKey ? externalId : null;
}
