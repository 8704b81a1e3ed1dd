import type { MemoryServiceError } from '../../../sdk/index.ts';

/** Thrown for another user's memory, so that the memory appears not to exist. */
export class NoSuchMemory extends Error {
  override name = 'NoSuchMemory';
  readonly code = 'not_found';
}

/** Whether the request got no response. */
export function isUnreachable(error: unknown): error is MemoryServiceError {
  return (
    error instanceof Error && 'code' in error && /^(connection|timeout)$/.test(`${error.code}`)
  );
}

/**
 * Returns one line of advice for an SDK error; undefined for any other error. Checks the code
 * instead of the class, because the packed CLI bundles its own copy of the classes.
 */
export function adviceOn(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const { code, message, status } = error as MemoryServiceError;
  const known = Object.hasOwn(advice, code) ? advice[code] : undefined;
  if (known !== undefined) return known(message);
  if (status === undefined) return undefined;
  return `The memory service is unavailable: ${message}. Call again in a moment.`;
}

const noAnswer =
  'The memory service did not respond. Call again in a moment; a repeated call is safe.';

const advice: Record<string, (message: string) => string> = {
  not_found: () =>
    'This user has no memory with that id. Find ids with search_memories or list_memories.',
  precondition_failed: (message) => `Not updated: ${message}.`,
  invalid_request: (message) => `Invalid arguments: ${message}. Correct them and call again.`,
  payload_too_large: (message) => `The text is too large: ${message}. Save it in parts.`,
  rate_limited: (message) => `Too many requests: ${message}.`,
  forbidden: (message) => `Not allowed: ${message}. Ask the user to configure another key.`,
  unauthorized: () => 'The API key was rejected. Ask the user to configure a valid key.',
  internal: () =>
    'The memory service failed, and the call may or may not have had its effect. Call again in a ' +
    'moment; a repeated call is safe.',
  connection: () => noAnswer,
  timeout: () => noAnswer,
};
