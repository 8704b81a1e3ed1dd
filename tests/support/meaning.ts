import type { MemoryClient, SearchQuery } from '../../sdk/index.ts';
import { until } from './until.ts';

/** Searches until all memories of the user have vectors. */
export function searchByMeaning(
  client: MemoryClient,
  query: SearchQuery,
  options?: Parameters<typeof until>[1],
) {
  return until(async () => {
    const answer = await client.search(query);
    return answer.meaning === 'used' ? answer : null;
  }, options);
}
