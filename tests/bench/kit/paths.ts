import { fetchPage, listPath } from './client.ts';
import { idOf, usersWith, walker } from './dataset.ts';

/* The paths of requests that read a dataset. */

const questions = ['garage', 'pottery class', 'What did they cook for dinner?', 'summer trip'];
const goldenRatio = 0.618_033_988_749_895;

/** Returns the paths of the first pages of `count` users with more than 20 memories. */
export function firstPages(size: number, count: number): string[] {
  return usersWith(size, { least: 21, most: size, limit: count }).map(firstPage);
}

export function firstPage(userId: string): string {
  return listPath({ userId, limit: '20' });
}

/** Returns the paths of memories spread evenly over the table, the same in every run. */
export function memoryPaths(size: number, count: number): string[] {
  const positions = Array.from({ length: count }, (_, index) =>
    Math.floor(((index * goldenRatio) % 1) * size),
  );
  return positions.map((at) => `/v1/memories/${idOf(at)}`);
}

/** Returns the path of page 1,000 of the user `walker`, who has 1,000 pages at any table size. */
export async function lastPage(url: string): Promise<string> {
  const { userId, pages, pageItems } = walker;
  let cursor: string | null = null;
  // A cursor does not depend on the page size, so larger pages need fewer requests.
  for (let left = (pages - 1) * pageItems; left > 0; ) {
    const limit = Math.min(100, left);
    const query = { userId, limit: String(limit), ...(cursor !== null && { cursor }) };
    ({ nextCursor: cursor } = await fetchPage(url, query));
    left -= limit;
  }
  return listPath({ userId, limit: String(pageItems), cursor: cursor ?? '' });
}

/** Returns the search paths of one user, one for each question. */
export function searches(userId: string): string[] {
  return questions.map((query) => searchPath(userId, query));
}

/** Returns the user's search path for the question that `at` selects. */
export function searchOf(userId: string, at: number): string {
  return searchPath(userId, questions[at % questions.length] ?? '');
}

export function searchPath(userId: string, query: string): string {
  return `/v1/memories/search?${new URLSearchParams({ userId, query })}`;
}
