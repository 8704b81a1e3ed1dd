import type { ApiPromise } from './answer.ts';
import type { Memory } from './contract/memory.ts';
import type { Page } from './contract/page.ts';

/** A list: await it for one page, or iterate over every memory of this page and all after it. */
export type PagePromise = ApiPromise<Page> & AsyncIterable<Memory>;

export function pagePromise(fetchPage: (cursor?: string) => ApiPromise<Page>): PagePromise {
  const first = fetchPage();
  return Object.assign(first, { [Symbol.asyncIterator]: () => walk(first, fetchPage) });
}

async function* walk(first: Promise<Page>, fetchPage: (cursor: string) => Promise<Page>) {
  let { items, nextCursor } = await first;
  yield* items;
  while (nextCursor !== null) {
    ({ items, nextCursor } = await fetchPage(nextCursor));
    yield* items;
  }
}
