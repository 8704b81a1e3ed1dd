import * as headerNames from '../../sdk/contract/headers.ts';
import type { ResponseHead } from './response.ts';

const allowedMethods = 'GET, POST, PATCH, DELETE';
const allowedHeaders = [
  headerNames.authorization,
  headerNames.idempotencyKey,
  headerNames.requestId,
  'traceparent',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  // Sent by MCP clients.
  'Mcp-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
];
const exposedHeaders = [
  headerNames.requestId,
  headerNames.idempotencyStatus,
  headerNames.rateLimit,
  headerNames.rateLimitPolicy,
  headerNames.retryAfter,
  'ETag',
  'Location',
];

/** Adds the CORS headers for the configured origins. Returns true for a preflight request. */
export function allowOrigin(
  request: Request,
  origins: readonly string[],
  headers: ResponseHead['headers'],
): boolean {
  if (origins.length === 0) return false;
  headers.vary = 'Origin';
  const origin = request.headers.get('origin');
  if (origin === null || !origins.includes(origin)) return false;
  headers['access-control-allow-origin'] = origin;
  const isPreflight =
    request.method === 'OPTIONS' && request.headers.has('access-control-request-method');
  if (isPreflight) {
    headers['access-control-allow-methods'] = allowedMethods;
    headers['access-control-allow-headers'] = allowedHeaders.join(', ');
    headers['access-control-max-age'] = 600;
  } else {
    headers['access-control-expose-headers'] = exposedHeaders.join(', ');
  }
  return isPreflight;
}
