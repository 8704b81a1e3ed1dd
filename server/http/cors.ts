import { headers as headerNames } from '../../sdk/contract/headers.ts';

const allowedMethods = 'GET, POST, PATCH, DELETE';
const allowedHeaders = [headerNames.authorization, headerNames.idempotencyKey, 'Content-Type'];
const exposedHeaders = [
  headerNames.requestId,
  headerNames.idempotencyStatus,
  headerNames.rateLimit,
  headerNames.rateLimitPolicy,
  headerNames.retryAfter,
  'Location',
];

/**
 * Lets browsers of the configured origins in: adds to `headers` what a browser asks for, and
 * answers its preflight, which carries no key. Undefined means: go on.
 */
export function cors(
  request: Request,
  origins: readonly string[],
  headers: Record<string, string | number>,
): Response | undefined {
  if (origins.length === 0) return undefined;
  headers.vary = 'Origin';
  const origin = request.headers.get('origin');
  if (origin === null || !origins.includes(origin)) return undefined;
  headers['access-control-allow-origin'] = origin;
  headers['access-control-expose-headers'] = exposedHeaders.join(', ');
  const wanted = request.headers.has('access-control-request-method');
  if (request.method !== 'OPTIONS' || !wanted) return undefined;
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': allowedMethods,
      'access-control-allow-headers': allowedHeaders.join(', '),
      'access-control-max-age': '600',
      vary: 'Origin',
    },
  });
}
