import type { ApiPromise } from './api-promise.ts';
import type { Call } from './call.ts';
import type { Memory } from './contract/memory.ts';
import type { ListQuery, Page } from './contract/page.ts';
import type { ExportQuery } from './contract/transfer.ts';
import type { CallOptions } from './options.ts';

/** Await it for one page, or iterate over every memory of this page and all that follow. */
export type PagePromise = ApiPromise<Page> & AsyncIterable<Memory>;

/** Calls an operation whose results come in pages. */
export function pagePromise(
  call: Call,
  name: 'list' | 'export',
  query: ListQuery | ExportQuery,
  options: CallOptions | undefined,
): PagePromise {
  const fetchPage = (cursor: string) => call(name, { query: { ...query, cursor } }, options);
  const first = call(name, { query }, options);
  // The caller may start iterating later, and gets a failure then.
  first.catch(() => {});
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
