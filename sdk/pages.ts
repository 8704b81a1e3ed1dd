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
  query: { [name: string]: unknown } = {},
  options: CallOptions | undefined,
): PagePromise<ResponseBodies[Name]> {
  const first = call(name, { query }, options);
  // Prevents an unhandled rejection: if the caller iterates, the iteration throws the error.
  first.catch(() => {});
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      const seen = new Set<string>();
      let { items, nextCursor } = await first;
      yield* items;
      while (nextCursor !== null) {
        // A service that repeats its cursors must not keep the caller here forever.
        if (seen.has(nextCursor)) throw new ServerError('the service returned a cursor twice');
        seen.add(nextCursor);
        ({ items, nextCursor } = await call(
          name,
          { query: { ...query, cursor: nextCursor } },
          options,
        ));
        yield* items;
      }
    },
  });
}
