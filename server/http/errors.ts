import { type ErrorBody, errorTable } from '../../sdk/contract/errors.ts';
import { headers as headerNames } from '../../sdk/contract/headers.ts';
import { ServiceError } from '../errors.ts';

/** Of every response: it is one client's, and nothing that a browser should guess the type of. */
export const constantHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

/** The one place where an error becomes an answer. What is not ours is shown as nothing. */
export function errorResponse(
  error: unknown,
  requestId: string,
  headers: Record<string, string | number>,
): Response {
  const { code, message, details, retryAfterSeconds, allow } = asService(error);
  const body: ErrorBody = { error: code, message, ...(details && { details }), requestId };
  const answer = new Headers({
    ...constantHeaders,
    ...textual(headers),
    'content-type': 'application/json',
  });
  answer.set(headerNames.requestId, requestId);
  if (code === 'unauthorized') answer.set('www-authenticate', 'Bearer');
  if (allow !== undefined) answer.set('allow', allow);
  if (retryAfterSeconds !== undefined) answer.set('retry-after', String(retryAfterSeconds));
  return new Response(JSON.stringify(body), { status: errorTable[code].status, headers: answer });
}

function asService(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError(
    'internal',
    'the service met a fault and the outcome is unknown; retry with the same Idempotency-Key',
    { cause: error },
  );
}

/** Headers as the constructors of the Fetch API take them. */
export function textual(headers: Record<string, string | number>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
