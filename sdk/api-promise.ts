import type { IdempotencyStatus } from './contract/headers.ts';

/** The parsed body together with status and headers. */
export type ApiResponse<T> = {
  data: T;
  response: {
    status: number;
    headers: Headers;
    /** The number of requests that were sent. */
    attempts: number;
    /** Identifies the request in the server's log. */
    requestId: string | undefined;
    /** Of a keyed write: whether it happened now, or this is the stored first response. */
    idempotencyStatus: IdempotencyStatus | undefined;
  };
};

/**
 * A promise of the data, which can also return the whole response.
 *
 * ```ts
 * const { data, response } = await memory.save(request).withResponse();
 * response.headers.get('RateLimit');
 * ```
 */
export type ApiPromise<T> = Promise<T> & { withResponse(): Promise<ApiResponse<T>> };

export function apiPromise<T>(response: Promise<ApiResponse<T>>): ApiPromise<T> {
  const data = response.then((whole) => whole.data);
  return Object.assign(data, {
    withResponse() {
      // The caller handles a failure of the whole response; this promise must not report it too.
      data.catch(() => {});
      return response.then((whole) => whole);
    },
  });
}
