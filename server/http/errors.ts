import { type ErrorBody, errorTable } from '../../sdk/contract/errors.ts';
import * as headerNames from '../../sdk/contract/headers.ts';
import { ServiceError } from '../errors.ts';
import type { ResponseHead } from './response.ts';

/** Sent with every response, to prevent caching and MIME sniffing. */
export const constantHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

/** Hides all details of an unexpected error. `format` converts the body for another protocol. */
export function errorResponse(
  error: unknown,
  requestId: string,
  headers: ResponseHead['headers'],
  format: (body: ErrorBody) => unknown = (body) => body,
): Response {
  const { code, message, details, retryAfterSeconds, allow } = toServiceError(error);
  const body: ErrorBody = { error: code, message, ...(details && { details }), requestId };
  const responseHeaders = new Headers({
    ...constantHeaders,
    ...textual(headers),
    'content-type': 'application/json',
  });
  responseHeaders.set(headerNames.requestId, requestId);
  if (code === 'unauthorized') responseHeaders.set('www-authenticate', 'Bearer');
  if (allow !== undefined) responseHeaders.set('allow', allow);
  if (retryAfterSeconds !== undefined)
    responseHeaders.set('retry-after', String(retryAfterSeconds));
  return new Response(JSON.stringify(format(body)), {
    status: errorTable[code].status,
    headers: responseHeaders,
  });
}

function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError(
    'internal',
    'internal error; the outcome is unknown; retry with the same Idempotency-Key',
    { cause: error },
  );
}

/** Converts header values to strings, as the constructors of the Fetch API require. */
export function textual(headers: ResponseHead['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
