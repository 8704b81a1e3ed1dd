import type { IdempotencyStatus } from './contract/headers.ts';

/** The parsed answer together with what came around it. */
export type Answer<T> = {
  data: T;
  response: {
    status: number;
    headers: Headers;
    /** How many requests were sent for it. */
    attempts: number;
    /** Names this request in the server's log. */
    requestId: string | undefined;
    /** Whether a keyed write happened now, or this is the stored first answer. */
    idempotencyStatus: IdempotencyStatus | undefined;
  };
};

/**
 * A promise of the data alone, which can also give the answer around it.
 *
 * ```ts
 * const { data, response } = await memory.save(request).withResponse();
 * response.headers.get('RateLimit');
 * ```
 */
export type ApiPromise<T> = Promise<T> & { withResponse(): Promise<Answer<T>> };

export function apiPromise<T>(answer: Promise<Answer<T>>): ApiPromise<T> {
  const data = answer.then((whole) => whole.data);
  return Object.assign(data, {
    withResponse() {
      // Who asked for the whole answer handles its failure there; this half must not report it too.
      data.catch(() => {});
      return answer.then((whole) => whole);
    },
  });
}
