import type { IdempotencyStatus } from './contract/headers.ts';

/** The parsed body, with the status and the headers of the response. */
export type ApiResponse<T> = {
  data: T;
  response: {
    status: number;
    headers: Headers;
    /** The number of requests that were sent. */
    attempts: number;
    /** Identifies the request in the server's log. */
    requestId: string | undefined;
    /** For a write with a key: whether the write ran now or its stored response was returned. */
    idempotencyStatus: IdempotencyStatus | undefined;
  };
};

/**
 * A promise of the response body. `withResponse()` adds the status, the headers and the request id.
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
    async withResponse() {
      // The caller handles the rejection of the returned promise. Without this handler, `data`
      // would cause an unhandled rejection as well.
      data.catch(() => {});
      return response;
    },
  });
}
