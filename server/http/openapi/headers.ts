import * as headers from '../../../sdk/contract/headers.ts';
import type { JsonObject } from './components.ts';

export const exampleRequestId = 'req_5f0c3a9e7d2b4c1f8e6a0b9d8c7f6e5d';

const text = { type: 'string' };

export const responseHeaders = {
  [headers.requestId]: {
    description: 'Identifies the request in the log: the id that the client sent, or a new one.',
    required: true,
    schema: text,
    example: exampleRequestId,
  },
  [headers.rateLimitPolicy]: {
    description: "The project's quota: `q` requests per `w` seconds. Absent if there is no limit.",
    schema: text,
    example: '"default";q=6000;w=60',
  },
  [headers.rateLimit]: {
    description:
      '`r` requests are left, and the quota resets in `t` seconds. Absent if there is no limit.',
    schema: text,
    example: '"default";r=5999;t=60',
  },
  [headers.idempotencyStatus]: {
    description:
      'Only with an Idempotency-Key: `created`, or `replayed` if this is a stored response.',
    schema: text,
    example: 'created',
  },
  [headers.retryAfter]: {
    description: 'How many seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  [headers.etag]: {
    description:
      "The memory's `version`. Absent if the request is repeated after the memory has been deleted.",
    schema: text,
    example: '"1"',
  },
  Location: {
    description: 'The path of the memory or, after an ingest, of its processing status.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
    example: '/v1/memories/mem_0199c2a4f1e87c3d9b5e6a7f80912b3c/status',
  },
  'WWW-Authenticate': {
    description: 'The authentication scheme.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
} satisfies JsonObject;

export type HeaderName = keyof typeof responseHeaders;

export function referToHeaders(names: HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
