import { headers } from '../../../sdk/contract/headers.ts';
import type { JsonObject } from './components.ts';

/** Every header that answers carry, by the name it has on the wire. */
export const answerHeaders = {
  [headers.requestId]: {
    description: 'Names this request in the log of the service. On every answer.',
    required: true,
    schema: { type: 'string' },
    example: 'req_5f0c3a9e7d2b4c1f8e6a0b9d8c7f6e5d',
  },
  [headers.rateLimitPolicy]: {
    description: 'The quota `q` of the project in `w` seconds. Absent where there is no limit.',
    schema: { type: 'string' },
    example: '"default";q=6000;w=60',
  },
  [headers.rateLimit]: {
    description:
      'The requests `r` that are left, and in how many seconds `t` the quota is full again. ' +
      'Absent where there is no limit.',
    schema: { type: 'string' },
    example: '"default";r=5999;t=60',
  },
  [headers.idempotencyStatus]: {
    description:
      'Whether this answer was made now or is the stored first answer. Only where the request had ' +
      'an Idempotency-Key.',
    schema: { type: 'string', enum: ['created', 'replayed'] },
    example: 'created',
  },
  [headers.retryAfter]: {
    description: 'Whole seconds after which a retry makes sense.',
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  Location: {
    description: 'Where the status of the work is.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
    example: '/v1/memories/mem_0199c2a4f1e87c3d9b5e6a7f80912b3c/status',
  },
  'WWW-Authenticate': {
    description: 'How to identify: with a bearer key.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
} satisfies JsonObject;

export type AnswerHeader = keyof typeof answerHeaders;

export function referToHeaders(names: AnswerHeader[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
