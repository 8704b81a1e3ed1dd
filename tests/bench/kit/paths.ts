import { askPage, listPath } from './ask.ts';
import { idOf, userOf, walker } from './rows.ts';

/* What is read in a table made by `fill`. */

const questions = ['garage', 'pottery class', 'What did they cook for dinner?', 'summer trip'];
const spread = 0.618_033_988_749_895;

/** Places all over the table, and always the same. */
function places(count: number, size: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.floor(((index * spread) % 1) * size));
}

/** First pages of 20 of as many users, likelier of those who own more, each with a full page. */
export async function firstPages(url: string, size: number, count: number): Promise<string[]> {
  const users = [...new Set(places(count * 4, size).map(userOf))];
  const paths: string[] = [];
  for (const userId of users) {
    const page = await askPage(url, { userId, limit: '20' });
    if (page.nextCursor !== null) paths.push(listPath({ userId, limit: '20' }));
    if (paths.length === count) break;
  }
  return paths;
}

export function memoryPaths(size: number, count: number): string[] {
  return places(count, size).map((at) => `/v1/memories/${idOf(at)}`);
}

/** Page 1,000 of the user who has that many in a table of any size. */
export async function lastPage(url: string): Promise<string> {
  const { userId, pages, pageItems } = walker;
  let cursor: string | null = null;
  // A cursor is a place in the list, whatever the size of the pages that led there.
  for (let left = (pages - 1) * pageItems; left > 0; ) {
    const limit = Math.min(100, left);
    const query = { userId, limit: String(limit), ...(cursor !== null && { cursor }) };
    ({ nextCursor: cursor } = await askPage(url, query));
    left -= limit;
  }
  return listPath({ userId, limit: String(pageItems), cursor: cursor ?? '' });
}

export function searches(userId: string): string[] {
  return questions.map((query) => {
    const asked = new URLSearchParams({ userId, query });
    return `/v1/memories/search?${asked}`;
  });
}
