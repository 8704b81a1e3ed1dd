import { type ClientOptions, MemoryClient, MemoryServiceError } from '../../sdk/index.ts';

export const apiKey = 'a-key-for-tests-1234';

/** A client of a test server, with short retry delays. */
export function clientOf(server: { url: string }, options: ClientOptions = {}): MemoryClient {
  return new MemoryClient({ apiKey, baseUrl: server.url, retryDelayMs: 1, ...options });
}

/** Returns the MemoryServiceError that the promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<MemoryServiceError> {
  const outcome = await promise.then(
    () => new Error('the promise did not reject'),
    (error: unknown) => error,
  );
  if (outcome instanceof MemoryServiceError) return outcome;
  throw outcome;
}
