import type { ApiPromise } from './api-promise.ts';
import type { Call, ResponseBodies } from './call.ts';
import type { Page } from './contract/page.ts';
import type { UserPage } from './contract/project.ts';
import type { TaskPage } from './contract/tasks.ts';
import { ServerError } from './errors.ts';
import type { CallOptions } from './options.ts';

type AnyPage = Page | UserPage | TaskPage;

/** A promise of one page. Iteration yields the items of this page and of all later pages. */
export type PagePromise<P extends AnyPage = Page> = ApiPromise<P> &
  AsyncIterable<P['items'][number]>;

export function pagePromise<Name extends 'list' | 'export' | 'users' | 'tasks'>(
  call: Call,
  name: Name,
  query: { [name: string]: unknown },
  options: CallOptions | undefined,
): PagePromise<ResponseBodies[Name]> {
  const fetchPage = (cursor: string) => call(name, { query: { ...query, cursor } }, options);
  const first = call(name, { query }, options);
  // Prevents an unhandled rejection: if the caller iterates, the iteration throws the error.
  first.catch(() => {});
  return Object.assign(first, { [Symbol.asyncIterator]: () => walk(first, fetchPage) });
}

async function* walk<P extends AnyPage>(
  first: Promise<P>,
  fetchPage: (cursor: string) => Promise<P>,
): AsyncGenerator<P['items'][number]> {
  let { items, nextCursor } = await first;
  yield* items;
  // A service that repeats its cursors must not keep the caller here forever. A comparison with the
  // cursor of page 1, 2, 4, 8, … finds every cycle.
  for (let marked = '', page = 1; nextCursor !== null; page += 1) {
    if (nextCursor === marked) throw new ServerError('the service returned a cursor twice');
    if ((page & (page - 1)) === 0) marked = nextCursor;
    ({ items, nextCursor } = await fetchPage(nextCursor));
    yield* items;
  }
}
