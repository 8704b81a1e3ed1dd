import type { MemoryClient, SearchQuery } from '../../sdk/index.ts';
import { until } from './until.ts';

/** Searches until all memories of the user have vectors. */
export function searchByMeaning(
  client: MemoryClient,
  query: SearchQuery,
  options: { timeoutMs?: number; what?: string } = {},
) {
  const search = () => client.search(query);
  return until(search, { ...options, fits: ({ meaning }) => meaning === 'used' });
}
